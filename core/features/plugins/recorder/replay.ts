// Replays a recording: runs the same input in a fresh isolate, compares each call with the recorded one and
// returns the recorded answer. A replay has no effects; a call beyond the recording ends it.
import type {
  GuestCall,
  Pace,
  Paced,
  Sandbox,
  SandboxJob,
  SandboxOutcome,
} from '../../../platform/sandbox/supervisor.ts';
import { endOf } from './recorder.ts';
import { callsInOrder, type RecordedCall, type RecordedEnd, type Recording } from './recording.ts';

/** First difference between the replay and the recording. */
export interface Divergence {
  /** Number of the differing call in call order, from 1; null if the ends or logs differ. */
  readonly call: number | null;
  readonly op: string | null;
  /** Index of the differing argument, from 1. */
  readonly argument: number | null;
  /**
   * JSON pointer to the difference: within the argument, or within the end (`/status`, `/reason`, `/message`, `/logs/0/message`, …). Empty
   * if only one side made the call, or the operations differ.
   */
  readonly field: string;
  /** Recorded value; null if there is none. */
  readonly recorded: unknown;
  readonly replayed: unknown;
}

export interface Replayed {
  readonly result: 'identical' | 'diverged';
  readonly divergence: Divergence | null;
  /** CPU time of the replay, in milliseconds. */
  readonly cpuMs: number;
}

/** Error for a replay that the sandbox could not finish. */
export class ReplayInterrupted extends Error {}

/** Reasons that depend on measured resources. Their messages contain milliseconds, so only the reason is compared. */
const measuredReasons = new Set(['cpu', 'wall', 'memory', 'killed', 'protocol', 'startup']);
const triesMax = 3;
/** A replay does no I/O: all answers come from the recording. A replay that takes longer than this is stuck. */
const waitMsMax = 3_000;

export interface ReplayJob extends Pick<
  SandboxJob,
  'runId' | 'workspaceId' | 'installId' | 'code' | 'signal'
> {
  readonly recording: Recording;
}

/** @throws ReplayInterrupted */
export async function replay(sandbox: Sandbox, { recording, ...job }: ReplayJob): Promise<Replayed> {
  for (let tries = 1; ; tries++) {
    const pace = createPace(recording);
    const { handler, input } = recording;
    const limits = { ...recording.limits, wallMs: Math.min(recording.limits.wallMs, waitMsMax) };
    const outcome = await sandbox.run({
      ...job,
      handler,
      limits,
      input,
      pace,
      partition: 0,
      fresh: true,
      call: () => Promise.reject(new Error('A replay makes no host calls.')),
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
  /** Returns the first recorded call that the replay did not make; null if it made all. */
  unmade(): Divergence | null;
}

function createPace(recording: Recording): ComparingPace {
  const recordedCalls = callsInOrder(recording);
  /** Numbers of the calls that the guest has made, in call order. */
  const callNumbers: number[] = [];
  let divergence: Divergence | null = null;
  let delivered = 0;

  const unmade = (): Divergence | null => {
    const next = recordedCalls[callNumbers.length];
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
      divergence ??= callDivergence(recordedCalls[callNumbers.length], callNumbers.length + 1, call);
      callNumbers.push(call[0]);
      return divergence === null;
    },
    next() {
      const first = recording.calls[delivered];
      const group: Paced[] = [];
      for (let one: RecordedCall | undefined = first; one && one.entry === first!.entry;) {
        const call = callNumbers[one.call - 1];
        // The replay ended without making this call, or waits for something else.
        if (call === undefined) divergence ??= unmade();
        else group.push({ call, answer: one.answer, elapsedMs: one.elapsedMs });
        one = recording.calls[++delivered];
      }
      return divergence ? null : group;
    },
  };
}

interface Difference {
  /** JSON pointer (RFC 6901); empty if the values differ as a whole. */
  readonly at: string;
  /** Undefined if the value is absent on this side. */
  readonly one: unknown;
  readonly other: unknown;
}

/** Finds the first difference of two JSON values, ignoring the order of keys. */
function firstDifference(one: unknown, other: unknown): Difference | null {
  /**
   * Values still to compare, next one last. The stack is explicit, because values may be nested deeper than
   * the call stack allows.
   */
  const left: Difference[] = [{ at: '', one, other }];
  for (let next = left.pop(); next; next = left.pop()) {
    if (Object.is(next.one, next.other)) continue;
    const [mine, theirs] = [partsOf(next.one), partsOf(next.other)];
    if (!mine || !theirs || Array.isArray(next.one) !== Array.isArray(next.other)) return next;
    const keys = [...new Set([...mine.keys(), ...theirs.keys()])];
    for (const key of keys.toReversed())
      left.push({
        at: `${next.at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        one: mine.get(key),
        other: theirs.get(key),
      });
  }
  return null;
}

function partsOf(value: unknown): ReadonlyMap<string, unknown> | null {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : null;
}

function callDivergence(
  recorded: ReturnType<typeof callsInOrder>[number] | undefined,
  nth: number,
  [, op, args]: GuestCall,
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

/** Returns the arguments as text if they are not JSON, because the guest sends unchecked text. */
function readArgs(args: string): unknown {
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
}

/** Compares the ends. @returns `interrupted` if the replay did not end by itself */
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
      call: null,
      op: null,
      argument: null,
      field: difference.at,
      recorded: difference.one ?? null,
      replayed: difference.other ?? null,
    }
  );
}

/** Drops the times of log lines, which depend on the host. */
function comparable({ logs, ...end }: RecordedEnd) {
  if (end.reason !== null && measuredReasons.has(end.reason))
    return { status: end.status, reason: end.reason };
  return { ...end, logs: logs.map(({ level, message }) => ({ level, message })) };
}
