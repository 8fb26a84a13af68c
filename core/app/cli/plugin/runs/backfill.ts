// `tatami plugin catch-up PLUGIN`: runs it on what it missed while it was off, and waits until that is done.
import { counted } from '../../../../platform/lib/text/words.ts';
import { printResult } from '../../lib/output.ts';
import { poll } from '../../lib/poll.ts';
import { connect, type RemoteOptions } from '../../lib/remote.ts';
import { saying } from '../author/known.ts';

interface BackfillProgress {
  status: 'nothing' | 'off' | 'counting' | 'offered' | 'running' | 'done';
  missed: number | null;
  runs: number;
}

export async function backfillPlugin(plugin: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/catch-up`;
  const asked = await saying(call, { plugin }, call<BackfillProgress>('POST', path));
  const ended = await poll(
    asked,
    () => call<BackfillProgress>('GET', path),
    ({ status }) => status !== 'running',
  );
  printResult(ended, options, ({ status, runs }) =>
    status === 'nothing' || runs === 0
      ? `${plugin} has no missed events.`
      : `${plugin} backfilled its missed events: ${counted(runs, 'run')}.`,
  );
}
