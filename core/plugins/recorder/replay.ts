// Replays a recording: the same input in a fresh isolate, each call compared with the recorded one and answered as it was then. It
// touches nothing: what is asked beyond the recording ends it.
import type { MadeCall, Pace, Paced, Sandbox, SandboxJob, SandboxOutcome } from '../../sandbox/supervisor.ts';
import { firstDifference } from './difference.ts';
import { endOf } from './recorder.ts';
import { callsAsMade, type RecordedCall, type RecordedEnd, type Recording } from './recording.ts';

/** The first thing that came out differently. */
export interface Divergence {
  /** From 1, in the order in which the handler makes its calls; null of the end and the log. */
  readonly call: number | null;
  readonly op: string | null;
  /** Of a call whose argument differs: which, from 1. */
  readonly argument: number | null;
  /**
   * A JSON pointer to what differs: into that argument; of the end `/status`, `/reason`, `/message`, `/logs/0/message`, …; of a call that
   * only one of them made, or that is another one, empty.
   */
  readonly field: string;
  /** Null where there is nothing. */
  readonly recorded: unknown;
  readonly replayed: unknown;
}

export interface Replayed {
  readonly result: 'identical' | 'diverged';
  readonly divergence: Divergence | null;
  /** Processor time that it took. */
  readonly cpuMs: number;
}

/** The sandbox could not carry it to its end. */
export class ReplayInterrupted extends Error {}

/** How a run ends that is stopped for what it uses is not a matter of what it was given: the message names milliseconds. */
const measuredReasons = new Set(['cpu', 'wall', 'memory', 'killed', 'protocol', 'startup']);
const triesMax = 3;
/** Nothing is waited for in a replay but the end, so that one which waits for something else has come to nothing. */
const waitMsMax = 3_000;

export interface ReplayJob extends Pick<
  SandboxJob,
  'runId' | 'workspaceId' | 'installId' | 'code' | 'signal'
> {
  readonly recording: Recording;
}

/** @throws ReplayInterrupted */
export async function replay(
  sandbox: Pick<Sandbox, 'run'>,
  { recording, ...job }: ReplayJob,
): Promise<Replayed> {
  for (let tries = 1; ; tries++) {
    const pace = createPace(recording);
    const { handler, input } = recording;
    const limits = { ...recording.limits, wallMs: Math.min(recording.limits.wallMs, waitMsMax) };
    const outcome = await sandbox.run({
      ...{ ...job, handler, limits, input, pace },
      partition: 0,
      fresh: true,
      call: () => Promise.reject(new Error('A replay asks nobody.')),
    });
    const { cpuMs } = outcome;
    const divergence = pace.divergence ?? endingDivergence(recording, pace, outcome);
    if (divergence === 'interrupted') {
      if (tries < triesMax && job.signal?.aborted !== true) continue;
      throw new ReplayInterrupted('message' in outcome ? outcome.message : outcome.status);
    }
    return { result: divergence ? 'diverged' : 'identical', divergence, cpuMs };
  }
}

interface ComparingPace extends Pace {
  readonly divergence: Divergence | null;
  /** The first recorded call that was not made. */
  unmade(): Divergence | null;
}

function createPace(recording: Recording): ComparingPace {
  const asMade = callsAsMade(recording);
  /** As this guest numbers its calls, in the order in which it made them. */
  const made: number[] = [];
  let divergence: Divergence | null = null;
  let given = 0;

  const unmade = (): Divergence | null => {
    const next = asMade[made.length];
    if (!next) return null;
    const { call, op, args } = next;
    return { call, op, argument: null, field: '', recorded: { op, args: readArgs(args) }, replayed: null };
  };

  return {
    unmade,
    get divergence() {
      return divergence;
    },
    take(call) {
      divergence ??= callDivergence(asMade[made.length], made.length + 1, call);
      made.push(call[0]);
      return divergence === null;
    },
    next() {
      const first = recording.calls[given];
      const group: Paced[] = [];
      for (let one: RecordedCall | undefined = first; one && one.entry === first!.entry;) {
        const call = made[one.call - 1];
        // It has ended without the call, or waits for something else.
        if (call === undefined) divergence ??= unmade();
        else group.push({ call, answer: one.answer, elapsedMs: one.elapsedMs });
        one = recording.calls[++given];
      }
      return divergence ? null : group;
    },
  };
}

function callDivergence(
  recorded: ReturnType<typeof callsAsMade>[number] | undefined,
  nth: number,
  [, op, args]: MadeCall,
): Divergence | null {
  const about = { call: nth, op: recorded?.op ?? op, argument: null };
  if (!recorded) return { ...about, field: '', recorded: null, replayed: { op, args: readArgs(args) } };
  if (recorded.op !== op)
    return {
      ...about,
      field: '',
      recorded: { op: recorded.op, args: readArgs(recorded.args) },
      replayed: { op, args: readArgs(args) },
    };
  if (recorded.args === args) return null;
  const difference = firstDifference(readArgs(recorded.args), readArgs(args));
  if (!difference) return null;
  const [, index = '', ...path] = difference.at.split('/');
  return {
    ...about,
    argument: index === '' ? null : Number(index) + 1,
    field: path.length === 0 ? '' : `/${path.join('/')}`,
    recorded: difference.one ?? null,
    replayed: difference.other ?? null,
  };
}

/** Arguments are what the guest claims to be JSON. */
function readArgs(args: string): unknown {
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
}

/** Compares how they ended. @returns interrupted where the replay did not come to an end of its own */
function endingDivergence(
  { end }: Recording,
  pace: ComparingPace,
  outcome: SandboxOutcome,
): Divergence | null | 'interrupted' {
  const replayed = endOf(outcome);
  if (!replayed) return 'interrupted';
  const unmade = pace.unmade();
  if (unmade) return unmade;
  const difference = firstDifference(comparable(end), comparable(replayed));
  return (
    difference && {
      ...{ call: null, op: null, argument: null, field: difference.at },
      recorded: difference.one ?? null,
      replayed: difference.other ?? null,
    }
  );
}

/** When a line reached the core is a matter of the core. */
function comparable({ logs, ...end }: RecordedEnd) {
  if (end.reason !== null && measuredReasons.has(end.reason))
    return { status: end.status, reason: end.reason };
  return { ...end, logs: logs.map(({ level, message }) => ({ level, message })) };
}
