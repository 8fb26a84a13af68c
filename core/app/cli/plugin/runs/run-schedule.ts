// `tatami plugin run-schedule PLUGIN SCHEDULE`: runs it now and waits for how it ends, over all runs that it takes.
import { printableCopy } from '../../../../platform/lib/text/printable.ts';
import { exitCodes, printResult, say } from '../../lib/output.ts';
import { connect, type RemoteOptions } from '../../lib/remote.ts';
import { saying } from '../author/known.ts';
import { runLines, untilEnded, type Run } from './run.ts';

export async function runSchedule(plugin: string, schedule: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/schedules/${encodeURIComponent(schedule)}/run`;
  const started = await saying(call, { plugin, schedule }, call<Run>('POST', path));
  const ended = async (id: string): Promise<Run> => {
    const look = (): Promise<Run> => call<Run>('GET', `/runs/${id}`);
    return untilEnded(await look(), look, hasEnded);
  };
  let run = await ended(started.id);
  const logs = [...run.logs];
  while (run.continuedBy !== null) {
    say(progressText(printableCopy(run)));
    run = await ended(run.continuedBy);
    logs.push(...run.logs);
  }
  const whole = { ...run, logs };
  printResult(whole, options, (shown) =>
    [runLines(shown), ...(shown.progress ? [progressText(shown)] : [])].join('\n'),
  );
  // The server's retries go on for hours; that this attempt failed is the answer.
  if (run.status === 'retrying')
    say(
      `The attempt failed; the server retries it automatically. Cancel with \`tatami plugin cancel ${run.id}\`.`,
    );
  if (run.status !== 'succeeded') process.exitCode = exitCodes.failed;
}

/** What was merely interrupted is run again in a moment. */
function hasEnded({ status, error }: Run): boolean {
  if (status === 'queued' || status === 'running') return false;
  return status !== 'retrying' || error?.code !== 'interrupted';
}

function progressText({ progress }: Run): string {
  if (!progress) return '';
  const { done, of, unit } = progress;
  return `${Math.floor(done)} of ${of}${unit === undefined ? '' : ` ${unit}`}`;
}
