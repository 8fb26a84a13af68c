// `tatami plugin run-schedule PLUGIN SCHEDULE`: runs it now and waits for how it ends.
import { exitCodes, printResult, say } from '../output.ts';
import { connect, type RemoteOptions } from '../remote.ts';
import { runLines, type Run } from './run.ts';

const pollMsFirst = 50;
const pollMsMax = 1_000;

export async function runSchedule(plugin: string, schedule: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  let run = await call<Run>(
    'POST',
    `/plugins/${encodeURIComponent(plugin)}/schedules/${encodeURIComponent(schedule)}/run`,
  );
  for (let waitMs = pollMsFirst; run.status === 'queued' || run.status === 'running'; waitMs *= 1.5) {
    await Bun.sleep(Math.min(waitMs, pollMsMax));
    run = await call<Run>('GET', `/runs/${run.id}`);
  }
  printResult(run, options, () => runLines(run));
  // The server's retries go on for hours; that this attempt failed is the answer.
  if (run.status === 'retrying') say('The attempt failed; the server will try it again by itself.');
  if (run.status !== 'succeeded') process.exitCode = exitCodes.failed;
}
