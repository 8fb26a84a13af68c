// Who waits for the end of a run, while the request that made it is still open.
import type { Clock } from '../../lib/clock.ts';

/** Requests that wait at the same time; beyond that they are answered at once and ask again. */
const waitingMax = 1_000;

export interface RunEnds {
  /** Resolves when the run has ended, or that time has gone by. */
  wait(runId: string, ms: number): Promise<void>;
  /** Told once the end of a run is stored. */
  note(runId: string): void;
}

export function createRunEnds(clock: Clock): RunEnds {
  const waiting = new Map<string, () => void>();
  return {
    wait(runId, ms) {
      if (waiting.size >= waitingMax) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          waiting.delete(runId);
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
