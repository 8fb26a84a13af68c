// `tatami plugin scheduled list|cancel`: the one-time jobs of a plugin that wait for their time.
import { printResult } from '../lib/output.ts';
import { connect, readAll, type RemoteOptions } from '../lib/remote.ts';
import { isNotFound, notFound, saying } from '../lib/lookup.ts';

interface Scheduled {
  readonly name: string;
  readonly dueAt: string;
  readonly data: unknown;
  readonly hasHandler: boolean;
}

const pathOf = (plugin: string): string => `/plugins/${encodeURIComponent(plugin)}/scheduled`;

export async function listScheduled(plugin: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const all = await saying(call, { plugin }, readAll<Scheduled>(call, pathOf(plugin)));
  printResult(all, options, (shown) =>
    shown.length === 0 ? `${plugin} has no pending one-time jobs.` : shown.map(line).join('\n'),
  );
}

const dataCharsMax = 100;

function line({ name, dueAt, data, hasHandler }: Scheduled): string {
  const text = data === null ? '' : JSON.stringify(data);
  const cut = text.length > dataCharsMax ? `${text.slice(0, dataCharsMax)}…` : text;
  const line = `${dueAt}  ${name.padEnd(24)} ${cut}`.trimEnd();
  return hasHandler ? line : `${line}  (no handler in the installed version)`;
}

export async function cancelScheduled(plugin: string, name: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const ended = call('DELETE', `${pathOf(plugin)}/${encodeURIComponent(name)}`).catch(
    async (error: unknown) => {
      if (!isNotFound(error)) throw error;
      // Whether it is the plugin that is not there.
      await call('GET', `/plugins/${encodeURIComponent(plugin)}`);
      throw notFound(
        `${plugin} has no pending one-time job ${name}. List them with \`tatami plugin scheduled list ${plugin}\`.`,
      );
    },
  );
  await saying(call, { plugin }, ended);
  printResult({ plugin, name }, options, (shown) => `${shown.name} is canceled and will not run.`);
}
