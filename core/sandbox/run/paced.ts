// Answers the calls and timers of a replay from its recording, grouped and timed as recorded.
import type { Pace } from '../job.ts';
import { messageMax } from '../protocol.ts';
import type { RunNonce, CallReply } from '../protocol.ts';
import type { RunCalls } from './calls.ts';
import type { SandboxEnding } from './ending.ts';
import type { RunClock } from './time.ts';

export interface PacedCallsOptions {
  readonly nonce: RunNonce;
  readonly pace: Pace;
  readonly clock: RunClock;
  send(message: CallReply): void;
  stop(ending: SandboxEnding): void;
}

const ended: SandboxEnding = { status: 'interrupted', message: 'The replay was ended.' };

export function createPacedCalls({ nonce: run, pace, clock, send, stop }: PacedCallsOptions): RunCalls {
  let count = 0;
  return {
    get count() {
      return count;
    },
    // A recording answers at once, so no call is ever open.
    open: 0,
    answered: () => Promise.resolve(),
    take(...call) {
      if (call[1] !== 'sleep') count++;
      if (!pace.take(call)) stop(ended);
    },
    onIdle() {
      const answers = pace.next();
      if (answers === null) return stop(ended);
      // With no answers left, either the end of the run is in transit or its wall limit ends it.
      for (const [at, { call, answer, elapsedMs: ageMs }] of answers.entries()) {
        const elapsedMs = clock.advanceTo(ageMs);
        const about = { run, call, elapsedMs, ...(at < answers.length - 1 ? { more: true as const } : {}) };
        if (answer.ok) send({ t: 'answer', ...about, value: answer.value });
        else {
          const { code, message } = answer.error;
          send({ t: 'refuse', ...about, code, message: message.slice(0, messageMax) });
        }
      }
    },
  };
}
