// Work that must be done on the event loop and is longer than an ordinary request: parsing large bodies, matching filters, rendering
// what streams send. It is done in turns, fair by workspace and payer, a few milliseconds at a time. In between the loop serves
// whatever came in, so that nobody waits for more than one slice. What waits here is bounded by who waits for it: requests,
// streams and consumers, of which each waits for its own pieces before it goes on.
import { noteAway, partyOf, type Payer } from '../payer.ts';
import { threadMs } from '../processor.ts';
import { Turns } from './turns.ts';

/** The loop works for so long before it looks for what came in (milliseconds). */
const sliceMs = 3;
/** A turn shorter than this ends no slice: yielding would cost more. */
const trifleMs = 0.2;

export interface LoopTurns {
  /** Does a piece of work, a few milliseconds at most, when it is its payer's turn. Rejects with what it throws. */
  run<T>(payer: Payer, work: () => T | Promise<T>): Promise<T>;
}

interface Job {
  readonly payer: Payer;
  readonly sinceMs: number;
  work(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

const everybody = (): boolean => true;

/** @param charge told the processor time of each piece (milliseconds) */
export function createLoopTurns(charge: (payer: Payer, ms: number) => void): LoopTurns {
  const queue = new Turns<Job>();
  let working = false;

  const workOff = async (): Promise<void> => {
    let sinceMs = performance.now();
    for (let job = queue.take(everybody); job; job = queue.take(everybody)) {
      const before = threadMs();
      try {
        const result = await job.work();
        noteAway(job.payer, job.sinceMs);
        job.resolve(result);
      } catch (error) {
        noteAway(job.payer, job.sinceMs);
        job.reject(error);
      }
      const tookMs = threadMs() - before;
      charge(job.payer, tookMs);
      // What waits for the result goes on before the next turn, and counts as part of this slice.
      if (tookMs >= trifleMs || performance.now() - sinceMs >= sliceMs) {
        await new Promise((resolve) => setImmediate(resolve));
        sinceMs = performance.now();
      }
    }
    working = false;
  };

  return {
    run<T>(payer: Payer, work: () => T | Promise<T>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        const sinceMs = performance.now();
        const job: Job = { payer, sinceMs, work, resolve: (value) => resolve(value as T), reject };
        queue.push(payer.workspaceId, partyOf(payer), job);
        if (working) return;
        working = true;
        workOff().catch((error: unknown) => {
          // Whoever waits for a turn owns it, and is told that there will be none.
          working = false;
          for (const waiting of queue.clear()) waiting.reject(error);
        });
      });
    },
  };
}
