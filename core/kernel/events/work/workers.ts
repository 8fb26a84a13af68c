// Performs the work in memory. Failed work is postponed with growing delays.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { Log } from '../../../platform/lib/log.ts';
import type { Scope } from '../../../platform/store/store.ts';

/** Delay before failed work is due again; doubles with each failure up to `most`. */
const failedMs = { first: 5_000, most: 300_000 };
/**
 * Limit of work items whose delay is remembered. While it is reached, other failing work starts with the longest
 * delay.
 */
const failingMax = 10_000;
export const againMs = 1_000;

export interface WorkItem {
  /** Scope whose account is the subscriber. */
  readonly scope: Scope;
  readonly id: string;
  /** Epoch of the lease, which fences the row; null while the item has no row. */
  readonly epoch: number | null;
}

interface Workers {
  /** @param perform default: the `perform` function of the queue */
  hold(item: WorkItem, perform?: (item: WorkItem) => Promise<void>): void;
  isActive(id: string): boolean;
  readonly isBusy: boolean;
}

export function createWorkers(options: {
  clock: Clock;
  log: Log;
  kind: string;
  quota: FairQuota;
  perform(item: WorkItem): Promise<void>;
  /** Commits the postponement. */
  putOff(item: WorkItem, forMs: number): Promise<void>;
  isStopped(): boolean;
  onFree(scope: Scope): void;
}): Workers {
  const { clock, log, kind, quota, isStopped } = options;
  // A process does not claim its own leased rows again, even after the lease expires. Rows are leased only
  // within capacity, so this set is hardly larger.
  const active = new Set<string>();
  const nextDelays = new LRUCache<string, number>({ max: failingMax });

  const delayOf = (id: string): number => {
    const delayMs = nextDelays.get(id) ?? (nextDelays.size < failingMax ? failedMs.first : failedMs.most);
    nextDelays.set(id, Math.min(delayMs * 2, failedMs.most));
    return delayMs;
  };

  /**
   * Postpones failed work. Retries until that succeeds, because no other process can claim the work before
   * this process ends.
   */
  const giveBack = async (item: WorkItem): Promise<void> => {
    const delayMs = delayOf(item.id);
    for (;;) {
      try {
        return await options.putOff(item, delayMs);
      } catch (error) {
        if (isStopped()) return;
        log('warn', 'postponing work failed', { kind, id: item.id, error: errorForLog(error) });
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
    active.delete(id);
    quota.give(scope.workspaceId, scope.billingAccount ?? '');
    options.onFree(scope);
  };

  return {
    hold(item, perform = options.perform) {
      // Work leased to a stopping process is left to the next one.
      if (isStopped()) return;
      active.add(item.id);
      quota.take(item.scope.workspaceId, item.scope.billingAccount ?? '');
      void performOne(item, perform);
    },
    isActive: (id) => active.has(id),
    get isBusy() {
      return active.size > 0;
    },
  };
}
