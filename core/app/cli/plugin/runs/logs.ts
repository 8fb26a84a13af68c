// `tatami plugin logs PLUGIN`: its latest runs with what they logged, the newest last; with `--json` newest first, as the API.
import { wholeNumber } from '../../lib/flags.ts';
import { printResult } from '../../lib/output.ts';
import { connect, type RemoteOptions } from '../../lib/remote.ts';
import { saying } from '../author/known.ts';
import { runLines, type Run } from './run.ts';

export interface LogsOptions extends RemoteOptions {
  limit: string;
  status?: Run['status'];
}

export async function logs(plugin: string, options: LogsOptions): Promise<void> {
  const limit = wholeNumber('--limit', options.limit, 1, 100);
  const { status } = options;
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/runs?limit=${limit}${status === undefined ? '' : `&status=${status}`}`;
  const { data } = await saying(call, { plugin }, call<{ data: Run[] }>('GET', path));
  printResult(data, options, (shown) =>
    shown.length === 0
      ? noRuns(plugin, status)
      : [...shown.toReversed().map(runLines), ...hints(shown)].join('\n'),
  );
}

function noRuns(plugin: string, status: Run['status'] | undefined): string {
  return status === undefined ? `${plugin} has not run yet.` : `${plugin} has no ${status} runs.`;
}

/** Logins are apps, which never hold the scope. */
function hints(runs: readonly Run[]): string[] {
  const missing = [...new Set(runs.flatMap(({ leftOut }) => leftOut))];
  return missing.length === 0
    ? []
    : [`To show logs and error messages, use an API key with ${missing.join(', ')} (TATAMI_TOKEN).`];
}
