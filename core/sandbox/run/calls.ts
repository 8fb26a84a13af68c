// Answers the host calls and timers of one run, and keeps their limits once more. Everything that arrives is text from an
// untrusted process.
import type { SidecarProcess } from '../fleet/process.ts';
import type { CallAnswer, SandboxJob } from '../job.ts';
import { messageMax, textMaxOf } from '../protocol.ts';
import type { RunNonce, Told } from '../protocol.ts';
import { failed, type Ending } from './ending.ts';
import type { RunClock, RunTimers } from './time.ts';

const operationPattern = /^[a-z][a-z-]{0,29}\.[a-zA-Z]{1,30}$/;
/** Of one run. */
export const timersMax = 5000;
const sleepMsMax = 120_000;

export interface RunCallsOptions {
  readonly nonce: RunNonce;
  readonly job: SandboxJob;
  readonly sidecar: SidecarProcess;
  readonly clock: RunClock;
  readonly timers: RunTimers;
  isOver(): boolean;
  send(message: Told): void;
  stop(ending: Ending): void;
}

export interface RunCalls {
  /** Calls so far, without timers. */
  readonly made: number;
  readonly open: number;
  take(call: number, op: string, args: string): void;
  /** Resolves once no call is open that is open now. */
  answered(): Promise<unknown>;
  /** The guest has had all that it was sent, and waits. */
  onIdle?(): void;
}

export function createRunCalls(options: RunCallsOptions): RunCalls {
  const { nonce, job, sidecar, clock, send } = options;
  /** At most `concurrentCalls` of the run's limits. */
  const open = new Set<Promise<void>>();
  let made = 0;
  const sleep = createSleeps(options);

  const refuse = (call: number, code: string, message: string): void =>
    send({ t: 'refuse', run: nonce, call, elapsedMs: clock.elapsedMs, code, message });

  const give = (call: number, op: string, answer: CallAnswer): void => {
    if (!answer.ok) refuse(call, answer.error.code, answer.error.message.slice(0, messageMax));
    else if (answer.value.length > textMaxOf(op)) refuse(call, 'too_large', tooLarge(op));
    else send({ t: 'answer', run: nonce, call, elapsedMs: clock.elapsedMs, value: answer.value });
  };

  const answer = async (call: number, op: string, args: string): Promise<void> => {
    // What is asked of another server takes no room for its answer until that is here.
    const waitsOutside = op === 'net.fetch';
    let units = args.length + (waitsOutside ? 0 : textMaxOf(op));
    const turn = sidecar.room.enter(job, units);
    if (turn) await turn;
    try {
      if (options.isOver()) return;
      const answered = await job.call(op, args);
      if (waitsOutside && answered.ok) {
        sidecar.room.leave(units);
        units = answered.value.length;
        await sidecar.room.enter(job, units);
      }
      const pauseMs = answered.ok ? sidecar.room.pauseMs(answered.value.length) : 0;
      if (pauseMs > 0) await Bun.sleep(pauseMs);
      clock.advanceTo(clock.ageMs());
      give(call, op, answered);
    } catch {
      // What went wrong inside the host is none of the guest's business.
      refuse(call, 'internal_error', 'The host call failed.');
    } finally {
      sidecar.room.leave(units);
    }
  };

  return {
    get made() {
      return made;
    },
    get open() {
      return open.size;
    },
    take(call, op, args) {
      if (op === 'sleep') return sleep(call, args);
      const { calls, concurrentCalls } = job.limits;
      if (++made > calls)
        return options.stop(failed('call_budget', `More than ${calls} host calls in one run.`, false));
      if (open.size >= concurrentCalls)
        return options.stop(failed('protocol', 'More host calls at once than allowed.', true));
      if (!operationPattern.test(op) || args.length > textMaxOf(op)) {
        const message = `${op.slice(0, 60)} is no call, or its arguments are too large.`;
        return refuse(call, 'validation_failed', message);
      }
      const answering = answer(call, op, args);
      open.add(answering);
      void answering.finally(() => open.delete(answering));
    },
    answered: () => Promise.allSettled(open),
  };
}

function tooLarge(op: string): string {
  return `The answer of ${op} is larger than ${textMaxOf(op)} characters; ask for fewer fields or a smaller page.`;
}

/** Timers of the guest: host calls that answer themselves, and count against a limit of their own. */
function createSleeps(options: RunCallsOptions): (call: number, args: string) => void {
  const { nonce: run, clock, timers, send } = options;
  let sleeps = 0;
  return (call, args) => {
    if (++sleeps > timersMax)
      return options.stop(failed('call_budget', `More than ${timersMax} timers in one run.`, false));
    const ms = Math.min(Number(args.slice(1, -1)) || 0, sleepMsMax);
    const dueMs = clock.ageMs(ms);
    timers.after(ms, () => send({ t: 'answer', run, call, elapsedMs: clock.advanceTo(dueMs), value: '' }));
  };
}
