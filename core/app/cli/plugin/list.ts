// `tatami plugin list`.
import { printResult } from '../lib/output.ts';
import { connect, readAll, type RemoteOptions } from '../lib/remote.ts';
import { waitWords, type Run } from './runs/run.ts';
import { modeNow, stateNow, type PluginStatus } from './plugin-status.ts';

interface Install extends PluginStatus {
  readonly id: string;
  readonly pluginId: string;
  readonly pluginVersion: string;
  readonly waitsFor: Run['waitsFor'];
}

export async function list(options: RemoteOptions): Promise<void> {
  const all = await readAll<Install>(connect(options), '/plugins');
  printResult(all, options, (shown) =>
    shown.length === 0 ? 'No plugins are installed.' : [...shown.map(line), ...howToEnd(shown)].join('\n'),
  );
}

function line({ pluginId, pluginVersion, id, waitsFor, ...standing }: Install): string {
  const wait = waitsFor ? `  ${waitWords(waitsFor)}` : '';
  return `${pluginId.padEnd(24)} ${pluginVersion.padEnd(10)} ${modeNow(standing).padEnd(9)} ${stateNow(standing).padEnd(24)} ${id}${wait}`;
}

/** One line for all that are on probation. */
function howToEnd(all: readonly Install[]): string[] {
  if (all.every(({ probation }) => !probation)) return [];
  return [
    'A plugin on probation only proposes its writes. Probation ends with approved runs (`tatami proposals approve`), or with `tatami plugin probation NAME --end`.',
  ];
}
