// Answers the host calls and timers of one run, and enforces their limits again, because the calls come from an untrusted process.
import type { SidecarProcess } from '../fleet/process.ts';
import type { CallAnswer, SandboxJob } from '../job.ts';
import { messageMax, textMaxOf } from '../protocol.ts';
import type { RunNonce, CallReply } from '../protocol.ts';
import { failed, type SandboxEnding } from './ending.ts';
import type { RunClock, RunTimers } from './time.ts';

const operationPattern = /^[a-z][a-z-]{0,29}\.[a-zA-Z]{1,30}$/;
/** Maximum number of timers of one run. */
export const timersMax = 5000;
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
