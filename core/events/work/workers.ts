// Work in memory: all of it is under way. What fails is given back for a while, which grows as long as it fails.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { errorForLog } from '../../lib/failures.ts';
import type { Shares } from '../../lib/fairness/shares.ts';
import type { Log } from '../../lib/log.ts';
import type { Scope } from '../../store/store.ts';

/** Failed work is due again after this long, and after twice as long each time. */
const failedMs = { first: 5_000, most: 300_000 };
/** Pieces of work of which that is known. While as many fail, what fails beside them waits the longest from the beginning. */
const failingMax = 10_000;
export const againMs = 1_000;

export interface WorkItem {
  /** Its payer is the subject. */
  readonly scope: Scope;
  readonly id: string;
  /** Who finishes the row must name the epoch it was leased under. Null as long as it has no row. */
  readonly epoch: number | null;
}

interface Workers {
  /** @param perform the queue's own by default */
  hold(item: WorkItem, perform?: (item: WorkItem) => Promise<void>): void;
  isHeld(id: string): boolean;
  readonly isBusy: boolean;
}

export function createWorkers(options: {
  clock: Clock;
  log: Log;
  kind: string;
  shares: Shares;
  perform(item: WorkItem): Promise<void>;
  /** Commits that the item is put off for so long. */
  putOff(item: WorkItem, forMs: number): Promise<void>;
  isStopped(): boolean;
  onFree(scope: Scope): void;
}): Workers {
  const { clock, log, kind, shares, isStopped } = options;
  // A lease of our own never runs out for ourselves: what is held here is claimed by nobody else of this process. Rows are leased
  // as far as there is room, so that this holds little more than that.
  const held = new Set<string>();
  const nextDelays = new LRUCache<string, number>({ max: failingMax });

  const delayOf = (id: string): number => {
    const delayMs = nextDelays.get(id) ?? (nextDelays.size < failingMax ? failedMs.first : failedMs.most);
    nextDelays.set(id, Math.min(delayMs * 2, failedMs.most));
    return delayMs;
  };

  /** Until it is given back, nobody can take it: so try until it is, or until the process ends and its leases with it. */
  const giveBack = async (item: WorkItem): Promise<void> => {
    const delayMs = delayOf(item.id);
    for (;;) {
      try {
        return await options.putOff(item, delayMs);
      } catch (error) {
        if (isStopped()) return;
        log('warn', 'work could not be given back', { kind, id: item.id, error: errorForLog(error) });
        await new Promise<void>((resolve) => void clock.after(againMs, resolve));
      }
    }
  };

  const performOne = async (item: WorkItem, perform: (item: WorkItem) => Promise<void>): Promise<void> => {
    const { id, scope } = item;
    try {
      await perform(item);
      nextDelays.delete(id);
    } catch (error) {
      log('error', 'work failed', { kind, id, workspaceId: scope.workspaceId, error: errorForLog(error) });
      await giveBack(item);
    }
    held.delete(id);
    shares.give(scope.workspaceId, scope.payer ?? '');
    options.onFree(scope);
  };

  return {
    hold(item, perform = options.perform) {
      // What is leased to a process that ends is the next one's.
      if (isStopped()) return;
      held.add(item.id);
      shares.take(item.scope.workspaceId, item.scope.payer ?? '');
      void performOne(item, perform);
    },
    isHeld: (id) => held.has(id),
    get isBusy() {
      return held.size > 0;
    },
  };
}
