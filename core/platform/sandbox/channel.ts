import type { SandboxOutcome, CallAnswer, SandboxJob } from './job.ts';
import {
  type GuestProgress,
  messageMax,
  textMaxOf,
  type RunNonce,
  type CallReply,
  callsPerFrameMax,
  type RunLimits,
} from './protocol.ts';
import type { SidecarProcess } from './fleet/process.ts';
import { type GuestSaid, ProtocolBreach } from './frames.ts';

type Failure = Extract<SandboxOutcome, { status: 'failed' }>;

export type SandboxEnding =
  | { status: 'succeeded'; progress?: GuestProgress; result?: string }
  | { status: 'interrupted'; message: string }
  | Pick<Failure, 'status' | 'reason' | 'message' | 'killed' | 'retryAfterMs' | 'stack'>;

/** @param killed true if the isolate or process died because of the run, which is a violation */
export function failed(reason: Failure['reason'], message: string, killed: boolean): SandboxEnding {
  return { status: 'failed', reason, message, killed };
}

// Time of a run: the guest's clock, timers that end with the run, and the time in which the run waits only for itself.

export interface RunClock {
  /** Age of the run as last sent to the guest. */
  readonly elapsedMs: number;
  /** Time on the guest's clock, milliseconds since the epoch. */
  readonly nowMs: number;
  /** Returns the age of the run now, plus `aheadMs`; does not advance the guest's clock. */
  ageMs(aheadMs?: number): number;
  /** Advances the guest's clock, never backwards, and returns its new value. */
  advanceTo(ageMs: number): number;
}

export function createRunClock(clock: () => number): RunClock {
  const startedAtMs = clock();
  let elapsedMs = 0;
  return {
    get elapsedMs() {
      return elapsedMs;
    },
    get nowMs() {
      return startedAtMs + elapsedMs;
    },
    ageMs: (aheadMs = 0) => Math.max(elapsedMs, clock() - startedAtMs) + aheadMs,
    advanceTo(ageMs) {
      elapsedMs = Math.max(elapsedMs, ageMs);
      return elapsedMs;
    },
  };
}

/** Timers that end with their run. */
export interface RunTimers {
  after(ms: number, then: () => void): void;
  clear(): void;
}

export function createRunTimers(): RunTimers {
  /** Bounded by `timersMax` plus the wall limit and stop checks of the run. */
  const timers = new Set<Timer>();
  return {
    after(ms, then) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        then();
      }, ms);
      timers.add(timer);
    },
    clear() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

export interface OwnWait {
  /** Returns the time the run has waited only for itself. Call when the result of `waits` may change. */
  lookMs(): number;
}

/** @param waits returns true while no guest code runs and no host call is open */
export function createOwnWait(waits: () => boolean): OwnWait {
  let waitedMs = 0;
  let waited = false;
  let lookedAt = performance.now();
  return {
    lookMs() {
      const now = performance.now();
      if (waited) waitedMs += now - lookedAt;
      lookedAt = now;
      waited = waits();
      return waitedMs;
    },
  };
}

// Answers the host calls and timers of one run, and enforces their limits again, because the calls come from an untrusted process.

const operationPattern = /^[a-z][a-z-]{0,29}\.[a-zA-Z]{1,30}$/;
/** Maximum number of timers of one run. */
const timersMax = 5000;
const sleepMsMax = 120_000;

export interface RunCallsOptions {
  readonly nonce: RunNonce;
  readonly job: SandboxJob;
  readonly sidecar: SidecarProcess;
  readonly clock: RunClock;
  readonly timers: RunTimers;
  isOver(): boolean;
  send(message: CallReply): void;
  stop(ending: SandboxEnding): void;
}

export interface RunCalls {
  /** Number of calls so far, excluding timers. */
  readonly count: number;
  readonly open: number;
  take(call: number, op: string, args: string): void;
  /** Resolves once all calls that are open now are answered. */
  answered(): Promise<unknown>;
  /** Called when the guest has consumed all messages and waits. */
  onIdle?(): void;
}

const hostFault =
  'The host call failed because of an error of the server. Retry it, or check the log of the server.';

export function createRunCalls(options: RunCallsOptions): RunCalls {
  const { nonce, job, sidecar, clock, send } = options;
  /** Bounded by `concurrentCalls` of the run's limits. */
  const open = new Set<Promise<void>>();
  let count = 0;
  const sleep = createSleeps(options);

  const refuse = (call: number, code: string, message: string): void =>
    send({ t: 'refuse', run: nonce, call, elapsedMs: clock.elapsedMs, code, message });

  const give = (call: number, op: string, answer: CallAnswer): void => {
    if (!answer.ok) refuse(call, answer.error.code, answer.error.message.slice(0, messageMax));
    else if (answer.value.length > textMaxOf(op)) refuse(call, 'too_large', tooLarge(op));
    else send({ t: 'answer', run: nonce, call, elapsedMs: clock.elapsedMs, value: answer.value });
  };

  const answer = async (call: number, op: string, args: string): Promise<void> => {
    // A fetch reserves no capacity for its answer until the answer arrives.
    const waitsOutside = op === 'net.fetch';
    let units = args.length + (waitsOutside ? 0 : textMaxOf(op));
    const admission = sidecar.callCapacity.enter(job, units);
    if (admission) await admission;
    try {
      if (options.isOver()) return;
      const answered = await job.call(op, args);
      if (waitsOutside && answered.ok) {
        sidecar.callCapacity.leave(units);
        units = answered.value.length;
        await sidecar.callCapacity.enter(job, units);
      }
      const pauseMs = answered.ok ? sidecar.callCapacity.pauseMs(answered.value.length) : 0;
      if (pauseMs > 0) await Bun.sleep(pauseMs);
      clock.advanceTo(clock.ageMs());
      give(call, op, answered);
    } catch {
      // Details of host errors must not reach the guest.
      refuse(call, 'internal_error', hostFault);
    } finally {
      sidecar.callCapacity.leave(units);
    }
  };

  return {
    get count() {
      return count;
    },
    get open() {
      return open.size;
    },
    take(call, op, args) {
      if (op === 'sleep') return sleep(call, args);
      const exceeded = exceededLimit(++count, open.size, job.limits);
      if (exceeded) return options.stop(exceeded);
      if (!operationPattern.test(op) || args.length > textMaxOf(op))
        return refuse(call, 'validation_failed', noSuchCall(op));
      const answering = answer(call, op, args);
      open.add(answering);
      void answering.finally(() => open.delete(answering));
    },
    answered: () => Promise.allSettled(open),
  };
}

/** Returns the end of a run whose number of calls, or of open calls, exceeds its limit. */
function exceededLimit(
  count: number,
  open: number,
  { calls, concurrentCalls }: SandboxJob['limits'],
): SandboxEnding | undefined {
  if (count > calls) {
    const message = `The run made more than ${calls} host calls. Split the work into several runs.`;
    return failed('call_budget', message, false);
  }
  if (open < concurrentCalls) return undefined;
  const message = `The run made more than ${concurrentCalls} concurrent host calls. Await earlier calls first.`;
  return failed('protocol', message, true);
}

function noSuchCall(op: string): string {
  return `The call ${op.slice(0, 60)} does not exist, or its arguments are too large. Use the calls of ctx, with smaller arguments.`;
}

function tooLarge(op: string): string {
  return `The answer of ${op} is larger than ${textMaxOf(op)} characters. Request fewer fields or a smaller page.`;
}

/** Returns a function that starts a timer of the guest. A timer is a call with its own limit, answered when it is due. */
function createSleeps(options: RunCallsOptions): (call: number, args: string) => void {
  const { nonce: run, clock, timers, send } = options;
  let sleeps = 0;
  return (call, args) => {
    if (++sleeps > timersMax)
      return options.stop(
        failed(
          'call_budget',
          `The run set more than ${timersMax} timers. Split the work into several runs.`,
          false,
        ),
      );
    const ms = Math.min(Number(args.slice(1, -1)) || 0, sleepMsMax);
    const dueMs = clock.ageMs(ms);
    timers.after(ms, () => send({ t: 'answer', run, call, elapsedMs: clock.advanceTo(dueMs), value: '' }));
  };
}

// Exchanges the messages of one run with its sidecar, and requests its stop.

/** Time for a stop request and the end that answers it; a sidecar stops a run at once. */
const stopMs = 1500;
const stopLooksMax = 10;

export interface RunChannel {
  /** True if guest code may be running now: the sidecar has not acknowledged all messages. */
  readonly active: boolean;
  /** Ending of the run after a requested stop; undefined if no stop was requested. */
  readonly stopping: SandboxEnding | undefined;
  send(message: CallReply): void;
  /** Collects replies instead of sending them, until `release`. @returns the collected ones */
  hold(): readonly CallReply[];
  release(): void;
  /** @param acked number of messages that the run has consumed @throws ProtocolBreach */
  hear(acked: number, said: GuestSaid): void;
  /** Requests that the sidecar dispose of the isolate; the run then ends as `ending`. */
  stop(ending: SandboxEnding): void;
  isClosed(): boolean;
  /** Drops all further messages to the sidecar. */
  close(): void;
}

interface RunChannelOptions {
  readonly nonce: RunNonce;
  readonly sidecar: SidecarProcess;
  readonly timers: RunTimers;
  readonly job: SandboxJob;
  onSent(): void;
}

// Bounds the frames that a run may send: each must acknowledge a message of the core or count against the limits of the run.

interface Speech {
  /** Number of the core's messages that the run has consumed. */
  readonly acked: number;
  /** @param sent number of messages sent by the core @throws ProtocolBreach */
  hear(ackedNow: number, said: GuestSaid, sent: number): void;
}

function createSpeech(limits: RunLimits): Speech {
  let acked = 0;
  /** Received calls, ignored ones and timers included. */
  let calls = 0;
  let lines = 0;
  return {
    get acked() {
      return acked;
    },
    hear(ackedNow, said, sent) {
      const isEmpty = said.calls.length === 0 && said.logs.length === 0;
      calls += said.calls.length;
      lines += said.logs.length;
      const ackedMin = acked + (isEmpty ? 1 : 0);
      const tooMuch = calls > limits.calls + timersMax + callsPerFrameMax || lines > limits.logLines;
      if (ackedNow > sent || ackedNow < ackedMin || tooMuch)
        throw new ProtocolBreach('A run sent more than its limits allow.');
      acked = ackedNow;
    },
  };
}

/** Creates the channel of a run whose order was sent. */
export function createRunChannel(options: RunChannelOptions): RunChannel {
  const { nonce, sidecar, timers } = options;
  const { limits, tape } = options.job;
  tape?.begin();
  const speech = createSpeech(limits);
  let sent = 1;
  let closed = false;
  let stopping: SandboxEnding | undefined;
  let held: CallReply[] | undefined;
  const send = (message: CallReply): void => {
    if (closed) return;
    if (held) return void held.push(message);
    sent++;
    sidecar.send(message);
    tape?.recordReply(message);
    options.onSent();
  };
  return {
    get active() {
      return sent > speech.acked;
    },
    get stopping() {
      return stopping;
    },
    send,
    hold: () => (held = []),
    release() {
      const replies = held ?? [];
      held = undefined;
      for (const reply of replies) send(reply);
    },
    hear(acked, said) {
      speech.hear(acked, said, sent);
      tape?.recordCalls(acked, said.calls);
    },
    stop(ending) {
      if (closed || stopping) return;
      stopping = ending;
      sidecar.send({ t: 'stop', run: nonce });
      killUnlessStopped(sidecar, timers);
    },
    isClosed: () => closed,
    close() {
      closed = true;
    },
  };
}

/** Kills a sidecar that sends messages but does not stop a run, because a genuine one would. The watch handles a silent sidecar. */
function killUnlessStopped(sidecar: SidecarProcess, timers: RunTimers): void {
  const stopSentAt = performance.now();
  const look = (looks: number): void =>
    timers.after(stopMs, () => {
      const spoke = sidecar.lastActiveAt - stopSentAt > stopMs / 2;
      if (spoke || looks === stopLooksMax) sidecar.kill('a run was not stopped when requested');
      else look(looks + 1);
    });
  look(1);
}
