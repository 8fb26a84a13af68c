// `tatami plugin logs PLUGIN`: its latest runs with what they logged, the newest last; with `--json` newest first, as the API.
import { wholeNumber } from '../flags.ts';
import { printResult } from '../output.ts';
import { connect, type RemoteOptions } from '../remote.ts';
import { saying } from './known.ts';
import { runLines, type Run } from './run.ts';

export async function logs(plugin: string, options: RemoteOptions & { limit: string }): Promise<void> {
  const limit = wholeNumber('--limit', options.limit, 1, 100);
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/runs?limit=${limit}`;
  const { data } = await saying(call, { plugin }, call<{ data: Run[] }>('GET', path));
  printResult(data, options, (shown) =>
    shown.length === 0
      ? `${plugin} has not run yet.`
      : [...shown.toReversed().map(runLines), ...hints(shown)].join('\n'),
  );
}

/** Logins are apps, which never hold the scope. */
function hints(runs: readonly Run[]): string[] {
  const missing = [...new Set(runs.flatMap(({ leftOut = [] }) => leftOut))];
  return missing.length === 0
    ? []
    : [`Logs and error messages take a key with ${missing.join(', ')} (TATAMI_TOKEN).`];
}
