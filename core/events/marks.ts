// Stores the low-water marks of a consumer shortly after they move, and wakes the consumer for lagging subscribers
// that are stuck.
import type { Clock } from '../lib/clock.ts';
import { errorForLog } from '../lib/failures.ts';
import type { Log } from '../lib/log.ts';
import { scopeOf } from '../store/store.ts';
import type { ConsumerPosition, ConsumerPositions } from './consumer-positions.ts';
import { stuckMs } from './reading.ts';

/** Delay before a mark is stored. After a crash, work that ended within this delay is planned again. */
const markMs = 100;
/** Delay after a failed attempt to store a mark. */
const againMs = 1_000;

interface Marks {
  /** Schedules a check of a workspace. Call when its work is done or waits. */
  lookLater(workspaceId: string): void;
  /**
   * Stores the mark. A failure is only logged, because events after the stored mark are planned again.
   * @returns true if the mark is stored
   */
  store(workspaceId: string): Promise<boolean>;
  stop(): void;
}

/** @param wake makes the consumer continue in a workspace */
export function createMarks(
  { name, log, clock }: { readonly name: string; readonly log: Log; readonly clock: Clock },
  positions: ConsumerPositions,
  wake: (workspaceId: string) => void,
): Marks {
  /** By workspace; only workspaces with work in progress have a timer. */
  const timers = new Map<string, () => void>();
  let stopped = false;

  const store = async (workspaceId: string): Promise<boolean> => {
    try {
      await positions.store(scopeOf(workspaceId));
      return true;
    } catch (error) {
      log('warn', 'cursor not stored', { consumer: name, workspaceId, error: errorForLog(error) });
      return false;
    }
  };

  const lookIn = (workspaceId: string, waitMs: number): void => {
    const position = positions.known(workspaceId);
    if (stopped || !position || timers.has(workspaceId)) return;
    const lags = position.lagging.size > 0;
    if (!lags && !hasNews(position)) return;
    const look = async (): Promise<void> => {
      timers.delete(workspaceId);
      if (lags) wake(workspaceId);
      lookIn(workspaceId, (await store(workspaceId)) ? 0 : againMs);
    };
    timers.set(
      workspaceId,
      clock.after(Math.max(waitMs, lags ? stuckMs : markMs), () => void look()),
    );
  };

  return {
    lookLater: (workspaceId) => lookIn(workspaceId, 0),
    store,
    stop() {
      stopped = true;
      for (const cancel of timers.values()) cancel();
    },
  };
}

const hasNews = ({ hasWorked, lowWater, stored }: ConsumerPosition): boolean =>
  hasWorked && lowWater > stored;
