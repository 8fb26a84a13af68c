// Deliveries to an address of the developer's machine: the code of the server makes the attempt, with the same headers and limits, and
// signs with a secret that is stored for a server and workspace, so that every listener and replay uses the same one.
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { createEgress, resolveWithSystem } from '../../../platform/lib/egress/egress.ts';
import { EgressError } from '../../../platform/lib/egress/error.ts';
import { idPrefixes, createIds } from '../../../platform/lib/ids.ts';
import { version } from '../../version.ts';
import { attempt, type WebhookMessage, isSigningSecret } from '../../../features/webhooks/offline.ts';
import { usage } from '../lib/flags.ts';
import { createHash } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ApiCallError, type Call } from '../../../../sdk/client/index.ts';
import { readStateDir } from '../../config/config.ts';
import { makePrivateDir, makePrivateFile } from '../../../platform/store/files/private.ts';
import { mintSecret } from '../../../platform/lib/secrets/tokens.ts';
import { CommandError } from '../lib/output.ts';
import { remoteOf, type Remote, type RemoteOptions } from '../lib/remote.ts';
import { writeOutputFile } from '../lib/write-file.ts';

/** A message without a trace, because no request of the server caused it. */
export type LocalMessage = Omit<WebhookMessage, 'traceparent'>;

export interface Forwarded {
  at: string;
  eventId: string;
  eventType: string;
  deliveryId: string;
  url: string;
  statusCode: number | null;
  latencyMs: number;
  error: string | null;
  worked: boolean;
}

interface Forwarder {
  /** Null when `signal` cut it short. */
  forward(message: LocalMessage, signal?: AbortSignal): Promise<Forwarded | null>;
  close(): void;
}

/** @throws CommandError when the address, the value of `flag`, can be none of a receiver */
export async function createForwarder(flag: string, url: string, secret: string): Promise<Forwarder> {
  // The person who types an address may reach what this machine reaches: the guard is for addresses that tenants choose.
  const egress = createEgress({
    allow: ['0.0.0.0/0', '::/0'],
    ownPort: () => undefined,
    resolve: resolveWithSystem,
  });
  try {
    await egress.checkUrl(url);
  } catch (error) {
    if (error instanceof EgressError) throw usage(`${flag}: ${error.message}`, error);
    throw error;
  }
  const ids = createIds(systemClock.nowMs);
  return {
    async forward(message, signal = new AbortController().signal) {
      const deliveryId = ids.next(idPrefixes.delivery);
      const attempted = await attempt(
        { clock: systemClock, egress, version, signal },
        { id: deliveryId, number: 1, url, secrets: [secret] },
        { ...message, traceparent: null },
      );
      if (attempted === null) return null;
      const { at, statusCode, latencyMs, error } = attempted.record;
      return {
        at: new Date(at).toISOString(),
        eventId: message.eventId,
        eventType: message.type,
        deliveryId,
        url,
        statusCode,
        latencyMs: Math.round(latencyMs),
        error,
        worked: attempted.worked,
      };
    },
    close: egress.close,
  };
}

export interface SecretOptions extends RemoteOptions {
  secret?: string;
}

/** @throws CommandError */
export function checkSecret({ secret }: SecretOptions): void {
  if (secret !== undefined && !isSigningSecret(secret))
    throw usage('--secret must be a complete signing secret: whsec_ followed by base64.');
}

/** Returns the value of `--secret`, or the stored secret, which is created if missing. @throws CommandError */
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
