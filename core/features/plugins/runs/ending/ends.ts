// Lets a request wait for the end of the run that it started.
import type { Clock } from '../../../../platform/lib/time/clock.ts';
import { FairQuota } from '../../../../platform/lib/fairness/fair-quota.ts';
import type { BillingAccount } from '../../../../platform/lib/billing-account.ts';

/**
 * Limit of waiting requests, with fair shares by workspace and by member or install. A request beyond its share gets an immediate
 * response, and the client polls.
 */
const waitingMax = 1_000;

export interface RunEnds {
  /** Resolves when the run has ended, or after `ms`. */
  wait(billingAccount: BillingAccount, runId: string, ms: number): Promise<void>;
  /** Resolves the waiter; call once the end of the run is stored. */
  note(runId: string): void;
}

export function createRunEnds(clock: Clock): RunEnds {
  const quota = new FairQuota(waitingMax);
  const waiting = new Map<string, () => void>();
  return {
    wait(billingAccount, runId, ms) {
      if (!quota.hasCapacityFor(billingAccount, 1)) return Promise.resolve();
      const releaseSlot = quota.reserve(billingAccount, 1);
      return new Promise((resolve) => {
        const done = (): void => {
          waiting.delete(runId);
          releaseSlot();
          stop();
          resolve();
        };
        const stop = clock.after(ms, done);
        waiting.set(runId, done);
      });
    },
    note: (runId) => waiting.get(runId)?.(),
  };
}
