// `tatami plugin action|run-schedule|retry|catch-up`: start runs and wait for their end.
import { parseJsonText } from '../../../platform/lib/json/json-fault.ts';
import { CommandError, exitCodes, printResult, say } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { saying, sayingOf } from '../lib/lookup.ts';
import { isDone, isOpen, runLines, untilEnded, type Run } from './runs.ts';
import { printableCopy } from '../../../platform/lib/text/printable.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { poll } from '../lib/poll.ts';

export interface ActionOptions extends RemoteOptions {
  readonly target?: string;
  /** JSON of an object. */
  readonly input?: string;
}

export async function callAction(plugin: string, action: string, options: ActionOptions): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/actions/${encodeURIComponent(action)}`;
  const body = {
    ...(options.target === undefined ? {} : { target: options.target }),
    ...(options.input === undefined ? {} : { input: inputOf(options.input) }),
  };
  const asked = await saying(call, { plugin }, call<Answered>('POST', path, body));
  const look = (): Promise<Answered> => call<Answered>('GET', `${path}/runs/${asked.id}`);
  const run = await untilEnded(asked, look, (shown) => !isOpen(shown));
  printResult(run, options, (shown) =>
    [runLines(shown), ...(shown.result === null ? [] : [JSON.stringify(shown.result, null, 2)])].join('\n'),
  );
  if (!isDone(run)) {
    say('The action failed and is not retried automatically. Correct the cause, then call the action again.');
    process.exitCode = exitCodes.failed;
  }
}

type Answered = Run & { readonly result: unknown };

function inputOf(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (error) {
    throw new CommandError(
      `--input is not JSON: ${(error as Error).message}. Pass an object, such as --input '{"dryRun": true}'.`,
      exitCodes.usage,
    );
  }
}

/** Runs a dead or canceled run again and waits for the attempt. */
export async function retryRun(runId: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const path = `/runs/${encodeURIComponent(runId)}`;
  const queued = await sayingOf('run', runId, call<Run>('POST', `${path}/retry`));
  const run = await untilEnded(queued, () => call<Run>('GET', path), hasEnded);
  printResult(run, options, runLines);
  if (!isDone(run)) process.exitCode = exitCodes.failed;
}

/** Waits for all runs of a schedule that continues over several. */
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
  if (!isDone(run)) process.exitCode = exitCodes.failed;
}

/** Returns false for an interrupted run, because it starts again soon. */
function hasEnded(run: Run): boolean {
  if (run.status === 'retrying') return run.error?.code !== 'interrupted';
  return !isOpen(run);
}

function progressText({ progress }: Run): string {
  if (!progress) return '';
  const { done, of, unit } = progress;
  return `${Math.floor(done)} of ${of}${unit === undefined ? '' : ` ${unit}`}`;
}

interface BackfillProgress {
  status: 'nothing' | 'off' | 'counting' | 'offered' | 'running' | 'done';
  missed: number | null;
  runs: number;
}

/** Runs the plugin on the events that it missed while disabled. */
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
