// Limits concurrent work on threads of the runtime, such as compression, with a fair queue by workspace and account. Callers bound
// the length of the queue.
import { partyOf, type BillingAccount } from '../billing-account.ts';
import { FairQueue } from './fair-queue.ts';

export interface FairPool {
  /** Settles like `work`, which runs when its account is next in the queue. */
  run<T>(billingAccount: BillingAccount, work: () => Promise<T>): Promise<T>;
}

const everybody = (): boolean => true;

/**
 * @param count number of concurrent jobs
 * @param charge receives the duration of each job, milliseconds
 */
export function createFairPool(
  count: number,
  charge: (billingAccount: BillingAccount, ms: number) => void,
): FairPool {
  const queue = new FairQueue<() => Promise<void>>();
  let busy = 0;
  const fill = (): void => {
    while (busy < count) {
      const work = queue.take(everybody);
      if (!work) return;
      busy++;
      void work().then(() => {
        busy--;
        fill();
      });
    }
  };
  return {
    run: (billingAccount, work) =>
      new Promise((resolve, reject) => {
        queue.push(billingAccount.workspaceId, partyOf(billingAccount), async () => {
          const sinceMs = performance.now();
          await work().then(resolve, reject);
          charge(billingAccount, performance.now() - sinceMs);
        });
        fill();
      }),
  };
}
