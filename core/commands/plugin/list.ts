// `tatami plugin list`.
import { printResult } from '../output.ts';
import { connect, type RemoteOptions } from '../remote.ts';
import { waitWords, type Run } from './run.ts';

interface Install {
  id: string;
  pluginId: string;
  pluginVersion: string;
  state: string;
  mode: string;
  waitsFor: Run['waitsFor'];
}

export async function list(options: RemoteOptions): Promise<void> {
  const { data } = await connect(options)<{ data: Install[] }>('GET', '/plugins?limit=100');
  printResult(data, options, (shown) =>
    shown.length === 0 ? 'No plugins are installed.' : shown.map(line).join('\n'),
  );
}

function line({ pluginId, pluginVersion, mode, state, id, waitsFor }: Install): string {
  const wait = waitsFor ? `  ${waitWords(waitsFor)}` : '';
  return `${pluginId.padEnd(24)} ${pluginVersion.padEnd(10)} ${mode.padEnd(9)} ${state.padEnd(18)} ${id}${wait}`;
}
