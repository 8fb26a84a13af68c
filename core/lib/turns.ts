// Work that must be done on the event loop, and is more than a request's: looking at the log, matching filters, rendering what
// streams send. It is done in turns, fair by workspace and payer, a few milliseconds at a time; between them the loop serves
// whatever came in, so that nobody waits for more than one slice.
import { createFairQueue, type Owner } from './fair-queue.ts';
import { threadMs } from './processor.ts';

/** So long the loop works without looking up (milliseconds). */
const sliceMs = 3;
/** Below this a turn counts as free: yielding would cost more. */
const trifleMs = 0.2;

export interface Turns {
  /** Does a piece of work, a few milliseconds at most, when it is its owner's turn. Rejects with what it throws. */
  run<T>(owner: Owner, work: () => T | Promise<T>): Promise<T>;
}

interface Job {
  work(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** @param charge told the processor time of each piece (milliseconds) */
export function createTurns(charge: (owner: Owner, ms: number) => void): Turns {
  const queue = createFairQueue<Job>();
  let working = false;

  const workOff = async (): Promise<void> => {
    let sinceMs = performance.now();
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { owner, item } = next;
      const before = threadMs();
      try {
        item.resolve(await item.work());
      } catch (error) {
        item.reject(error);
      }
      const tookMs = threadMs() - before;
      charge(owner, tookMs);
      // What waits for the result goes on before the next turn, and counts as part of this slice.
      if (tookMs >= trifleMs || performance.now() - sinceMs >= sliceMs) {
        await new Promise((resolve) => setImmediate(resolve));
        sinceMs = performance.now();
      }
    }
    working = false;
  };

  return {
    run<T>(owner: Owner, work: () => T | Promise<T>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        queue.push(owner, { work, resolve: (value) => resolve(value as T), reject });
        if (working) return;
        working = true;
        void workOff();
      });
    },
  };
}
