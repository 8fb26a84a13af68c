// `tatami plugin run-schedule PLUGIN SCHEDULE`: runs it now and waits for how it ends.
import { exitCodes, printResult, say } from '../output.ts';
import { poll } from '../poll.ts';
import { connect, type RemoteOptions } from '../remote.ts';
import { runLines, type Run } from './run.ts';

export async function runSchedule(plugin: string, schedule: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const started = await call<Run>(
    'POST',
    `/plugins/${encodeURIComponent(plugin)}/schedules/${encodeURIComponent(schedule)}/run`,
  );
  const run = await poll(
    started,
    () => call<Run>('GET', `/runs/${started.id}`),
    ({ status }) => status !== 'queued' && status !== 'running',
  );
  printResult(run, options, runLines);
  // The server's retries go on for hours; that this attempt failed is the answer.
  if (run.status === 'retrying') say('The attempt failed; the server will try it again by itself.');
  if (run.status !== 'succeeded') process.exitCode = exitCodes.failed;
}
