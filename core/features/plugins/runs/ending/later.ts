// Ends an attempt whose run is retried later, and gives up a run after too many attempts.
import { PLUGIN_RUN_BACKOFF, backoffDelayMs } from '../../../../platform/lib/time/clock.ts';
import type { Op } from '../../../../platform/store/store.ts';
import type { RunDeps } from '../../deps.ts';
import type { RunAttempt, LeasedRun } from '../attempt/attempt.ts';
import type { EndAttempt } from './ending.ts';
import type { RunError } from './failure.ts';
import { interruptedOp } from '../rows.ts';

/** A run interrupted this often, which takes days, is given up. Until then an interruption is not counted as an attempt. */
const interruptionsMax = 10_000;
const interruptedDelayMs = { first: 1_000, most: 30_000 };
/** Longest delay that a handler can request for its next attempt. */
const retryAfterMsMax = 86_400_000;

export interface Later {
  /** @param afterMs delay requested by the handler in milliseconds, replaces the backoff */
  retry(leased: LeasedRun, tried: RunAttempt, error: RunError, afterMs?: number): Promise<void>;
  /**
   * Retries a run that was interrupted by other runs or by a lack of CPU time. The interruption counts
   * neither as an attempt nor as a failure.
   */
  interrupt(leased: LeasedRun, tried: RunAttempt, message: string): Promise<void>;
}

export function createLater(deps: RunDeps, end: EndAttempt): Later {
  const { clock } = deps;

  const waitUntil = async (
    leased: LeasedRun,
    tried: RunAttempt,
    ending: { attempt: number; error: RunError; againAtMs: number; more?: readonly Op[] },
  ): Promise<void> => {
    await end(leased, tried, { status: 'retrying', ...ending });
    leased.queue.wake();
  };

  return {
    async retry(leased, tried, error, afterMs) {
      const attempt = leased.run.attempt + 1;
      const delayMs = backoffDelayMs(PLUGIN_RUN_BACKOFF, attempt, deps.random);
      if (delayMs === undefined) return void (await end(leased, tried, { status: 'dead', attempt, error }));
      const againAtMs = clock.nowMs() + Math.min(Math.max(afterMs ?? delayMs, 0), retryAfterMsMax);
      await waitUntil(leased, tried, { attempt, error, againAtMs });
    },
    async interrupt(leased, tried, message) {
      const { id, attempt, interruptions } = leased.run;
      const error = { code: 'interrupted', message };
      if (interruptions >= interruptionsMax)
        return void (await end(leased, tried, { status: 'dead', attempt, error }));
      const { first, most } = interruptedDelayMs;
      const againAtMs = clock.nowMs() + Math.min(first * 2 ** Math.min(interruptions, 10), most);
      const more = [interruptedOp(leased.item.scope, id)];
      await waitUntil(leased, tried, { attempt, error, againAtMs, more });
    },
  };
}
