// `tatami plugin logs PLUGIN`: its latest runs with what they logged, the newest last; with `--json` newest first, as the API.
import { CommandError, exitCodes, printResult } from '../output.ts';
import { connect, type RemoteOptions } from '../remote.ts';
import { runLines, type Run } from './run.ts';

export async function logs(plugin: string, options: RemoteOptions & { limit: string }): Promise<void> {
  if (!/^[1-9]\d?$|^100$/.test(options.limit))
    throw new CommandError(`--limit must be from 1 to 100, not "${options.limit}".`, exitCodes.usage);
  const { data } = await connect(options)<{ data: Run[] }>(
    'GET',
    `/plugins/${encodeURIComponent(plugin)}/runs?limit=${options.limit}`,
  );
  printResult(data, options, () =>
    data.length === 0 ? `${plugin} has not run yet.` : data.toReversed().map(runLines).join('\n'),
  );
}
