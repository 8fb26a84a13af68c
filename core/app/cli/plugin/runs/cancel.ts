// `tatami plugin cancel RUN`: ends a run that has not ended; of a schedule that went on over several, the last one.
import { printResult } from '../../lib/output.ts';
import { connect, type RemoteOptions } from '../../lib/remote.ts';
import { sayingOf } from '../author/known.ts';
import { runLines, type Run } from './run.ts';

export async function cancel(runId: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  let run = await sayingOf('run', runId, call<Run>('GET', pathOf(runId)));
  while (run.continuedBy !== null) run = await call<Run>('GET', pathOf(run.continuedBy));
  const canceled = await call<Run>('POST', `${pathOf(run.id)}/cancel`);
  printResult(canceled, options, runLines);
}

function pathOf(runId: string): string {
  return `/runs/${encodeURIComponent(runId)}`;
}
