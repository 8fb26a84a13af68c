// `tatami plugin secrets set PLUGIN NAME`: the value comes from standard input, as what stands on a command line is in the shell's history
// and in the list of processes.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { ask, CommandError, exitCodes, printResult, say } from '../../lib/output.ts';
import { connect, type RemoteOptions } from '../../lib/remote.ts';
import { saying } from '../author/known.ts';
import { secretLine, secretsPath, type Secret } from './secret.ts';

export async function set(plugin: string, name: string, options: RemoteOptions): Promise<void> {
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

/** What is typed is not shown. */
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
