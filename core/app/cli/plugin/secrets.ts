// `tatami plugin secrets list|set|delete`.
import { printResult, ask, CommandError, exitCodes, say } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { saying } from '../lib/lookup.ts';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

export async function listSecrets(plugin: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const { data } = await saying(call, { plugin }, call<{ data: Secret[] }>('GET', secretsPath(plugin)));
  printResult(data, options, (shown) =>
    shown.length === 0 ? `${plugin} needs no secrets.` : shown.map(secretLine).join('\n'),
  );
}

/** Reads the value from standard input, because arguments appear in the history of the shell and in lists of processes. */
export async function setSecret(plugin: string, name: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const value = (process.stdin.isTTY ? await askHidden(name) : await Bun.stdin.text()).replace(/\r?\n$/, '');
  if (value === '')
    throw new CommandError(
      `The value is empty. Pass it on standard input, such as \`tatami plugin secrets set ${plugin} ${name} < FILE\`.`,
      exitCodes.usage,
    );
  const secret = await saying(call, { plugin }, call<Secret>('PUT', secretsPath(plugin, name), { value }));
  printResult(secret, options, secretLine);
}

async function askHidden(name: string): Promise<string> {
  ask(`Value of ${name} (hidden): `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    say('');
  }
}

export async function deleteSecret(plugin: string, name: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  await saying(call, { plugin }, call('DELETE', secretsPath(plugin, name)));
  printResult({ plugin, name, setAt: null }, options, (shown) => `${shown.name} is no longer set.`);
}

interface Secret {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly header: string;
  readonly setAt: string | null;
}

function secretsPath(plugin: string, name?: string): string {
  const path = `/plugins/${encodeURIComponent(plugin)}/secrets`;
  return name === undefined ? path : `${path}/${encodeURIComponent(name)}`;
}

function secretLine({ name, hosts, header, setAt }: Secret): string {
  return `${name.padEnd(24)} ${(setAt ?? 'not set').padEnd(25)} sent as ${header} to ${hosts.join(', ')}`;
}

export interface WithSecrets {
  readonly pluginId: string;
  readonly secrets: readonly { readonly name: string; readonly setAt: string | null }[];
}

/** Returns further lines for the secrets that are not set, each with a leading line end. */
export function missingSecrets({ pluginId, secrets }: WithSecrets): string {
  return secrets
    .filter(({ setAt }) => setAt === null)
    .map(({ name }) => `\n  ${name} is not set: tatami plugin secrets set ${pluginId} ${name}`)
    .join('');
}
