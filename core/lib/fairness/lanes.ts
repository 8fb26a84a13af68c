// Work that threads of the runtime do, such as compressing: a few pieces at a time, in turns by workspace and payer, so that nobody's
// waits for all that another has sent. What waits here is bounded by who waits for it.
import { partyOf, type Payer } from '../payer.ts';
import { Turns } from './turns.ts';

export interface Lanes {
  /** Resolves or rejects as `work` does, once it was its payer's turn. */
  run<T>(payer: Payer, work: () => Promise<T>): Promise<T>;
}

const everybody = (): boolean => true;

/**
 * @param count how many pieces at a time
 * @param charge told how long a piece was worked on (milliseconds)
 */
export function createLanes(count: number, charge: (payer: Payer, ms: number) => void): Lanes {
  const queue = new Turns<() => Promise<void>>();
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
    run: (payer, work) =>
      new Promise((resolve, reject) => {
        queue.push(payer.workspaceId, partyOf(payer), async () => {
          const sinceMs = performance.now();
          await work().then(resolve, reject);
          charge(payer, performance.now() - sinceMs);
        });
        fill();
      }),
  };
}
