// Fair queue for work on the event loop that takes longer than an ordinary request: parsing large bodies, matching filters,
// rendering stream data. It runs in slices of a few milliseconds, fair by workspace and account; between slices the loop serves
// other events. Callers bound the length of the queue: each request, stream or consumer waits for its own job before it continues.
import { addWaitTime, partyOf, type BillingAccount } from '../billing-account.ts';
import { threadMs } from '../process/cpu.ts';
import { FairQueue } from './fair-queue.ts';

/** Duration of a slice before the loop yields, milliseconds. */
const sliceMs = 3;
/** Jobs shorter than this do not end a slice, because yielding would cost more. */
const trifleMs = 0.2;

export interface LoopQueue {
  /** Runs a job of at most a few milliseconds when its account is next in the queue. Rejects if it throws. */
  run<T>(billingAccount: BillingAccount, work: () => T | Promise<T>): Promise<T>;
}

interface Job {
  readonly billingAccount: BillingAccount;
  readonly sinceMs: number;
  work(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

const everybody = (): boolean => true;

/** @param charge receives the CPU time of each job, milliseconds */
export function createLoopQueue(charge: (billingAccount: BillingAccount, ms: number) => void): LoopQueue {
  const queue = new FairQueue<Job>();
  let working = false;

  const workOff = async (): Promise<void> => {
    let sinceMs = performance.now();
    for (let job = queue.take(everybody); job; job = queue.take(everybody)) {
      const before = threadMs();
      try {
        const result = await job.work();
        addWaitTime(job.billingAccount, job.sinceMs);
        job.resolve(result);
      } catch (error) {
        addWaitTime(job.billingAccount, job.sinceMs);
        job.reject(error);
      }
      const tookMs = threadMs() - before;
      charge(job.billingAccount, tookMs);
      // Continuations of the result run before the next job and count as part of this slice.
      if (tookMs >= trifleMs || performance.now() - sinceMs >= sliceMs) {
        await new Promise((resolve) => setImmediate(resolve));
        sinceMs = performance.now();
      }
    }
    working = false;
  };

  return {
    run<T>(billingAccount: BillingAccount, work: () => T | Promise<T>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        const sinceMs = performance.now();
        const job: Job = { billingAccount, sinceMs, work, resolve: (value) => resolve(value as T), reject };
        queue.push(billingAccount.workspaceId, partyOf(billingAccount), job);
        if (working) return;
        working = true;
        workOff().catch((error: unknown) => {
          // Rejects all waiting jobs, since none of them will run.
          working = false;
          for (const waiting of queue.clear()) waiting.reject(error);
        });
      });
    },
  };
}
