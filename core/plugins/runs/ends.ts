// Waiters for the end of a run, while the request that made it is still open.
import type { Clock } from '../../lib/clock.ts';
import { Shares } from '../../lib/fairness/shares.ts';
import type { Payer } from '../../lib/payer.ts';

/**
 * Requests that wait at the same time, shared by workspace and member or install. A request beyond a share is answered at once, and asks
 * again.
 */
const waitingMax = 1_000;

export interface RunEnds {
  /** Resolves when the run has ended, or that time has gone by. */
  wait(payer: Payer, runId: string, ms: number): Promise<void>;
  /** Called once the end of a run is stored. */
  note(runId: string): void;
}

export function createRunEnds(clock: Clock): RunEnds {
  const places = new Shares(waitingMax);
  const waiting = new Map<string, () => void>();
  return {
    wait(payer, runId, ms) {
      if (!places.hasRoomFor(payer, 1)) return Promise.resolve();
      const freePlace = places.hold(payer, 1);
      return new Promise((resolve) => {
        const done = (): void => {
          waiting.delete(runId);
          freePlace();
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
