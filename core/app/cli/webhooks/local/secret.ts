// The signing secret of local deliveries: made once for a server and workspace and kept, so that every listener and every
// replay signs with what the developer's receiver was given on the first day.
import { createHash } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ApiCallError, type Call } from '../../../../../sdk/client/index.ts';
import { readStateDir } from '../../../config/config.ts';
import { makePrivateDir, makePrivateFile } from '../../../../platform/store/files/private.ts';
import { mintSecret } from '../../../../platform/lib/secrets/tokens.ts';
import { isSigningSecret } from '../../../../features/webhooks/offline.ts';
import { usage } from '../../lib/flags.ts';
import { CommandError } from '../../lib/output.ts';
import { remoteOf, type Remote, type RemoteOptions } from '../../lib/remote.ts';
import { writeOutputFile } from '../../lib/write-file.ts';

export interface SecretOptions extends RemoteOptions {
  secret?: string;
}

/** @throws CommandError */
export function checkSecret({ secret }: SecretOptions): void {
  if (secret !== undefined && !isSigningSecret(secret))
    throw usage('--secret must be a complete signing secret: whsec_ followed by base64.');
}

/** What `--secret` gives, else the one kept for the server and workspace; made where there is none. @throws CommandError */
export async function localSecret(call: Call, options: SecretOptions): Promise<string> {
  if (options.secret !== undefined) return options.secret;
  const remote = remoteOf(options);
  const { server } = remote;
  const workspace = await workspaceOf(call, remote);
  const dir = join(readStateDir(), 'webhook-secrets');
  const file = join(
    dir,
    createHash('sha256')
      .update(`${server.replace(/\/+$/, '')} ${workspace}`)
      .digest('hex')
      .slice(0, 32),
  );
  if (!existsSync(file)) keepNew(dir, file);
  const secret = readFileSync(file, 'utf8').trim();
  if (!isSigningSecret(secret))
    throw new CommandError(`${file} has no valid signing secret. Remove it to create a new one.`);
  return secret;
}

/** Two listeners that start at once must agree: the file appears whole and only once. */
function keepNew(dir: string, file: string): void {
  makePrivateDir(dir);
  const draft = `${file}.${process.pid}`;
  makePrivateFile(draft, `${mintSecret()}\n`);
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A key that may not read its workspace has a secret of its own, found by the key's public part. */
async function workspaceOf(call: Call, { token, access }: Remote): Promise<string> {
  if (access !== null) return access.current().workspace.id;
  try {
    return (await call<{ id: string }>('GET', '/workspace')).id;
  } catch (error) {
    if (error instanceof ApiCallError && error.code === 'insufficient_scope' && typeof token === 'string')
      return token.split('_').slice(0, 2).join('_');
    throw error;
  }
}

const variable = 'TATAMI_WEBHOOK_SECRET';

/** Sets the variable in a file of environment variables, and leaves everything else in it as it is. */
export function writeEnv(file: string, secret: string): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const line = new RegExp(`^(\\s*(?:export\\s+)?${variable}\\s*=).*$`, 'm');
  const after = line.test(before)
    ? before.replace(line, `$1${secret}`)
    : `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${variable}=${secret}\n`;
  if (after !== before) writeOutputFile(file, after, 0o600);
}
