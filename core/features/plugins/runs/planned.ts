// Finds the run of a work item and its event. Recently planned runs are cached, so that their first attempt
// needs no read.
import { LRUCache } from 'lru-cache';
import type { EventRow } from '../../../kernel/events/event.ts';
import { findEvent } from '../../../kernel/events/log/log.ts';
import type { WorkItem } from '../../../kernel/events/work/queue.ts';
import type { Store } from '../../../platform/store/store.ts';
import { findRun, type RunRow } from './rows.ts';

/** Limit of cached events, in characters. */
const charsMax = 32 * 1024 * 1024;

interface Planned {
  readonly run: RunRow;
  /** Undefined if no event triggered the run. */
  readonly event: EventRow | undefined;
}

export interface PlannedRuns {
  remember(run: RunRow, event: EventRow): void;
  /** Returns undefined if there is no such run. Removes the run from the cache, because a later attempt must read the stored row. */
  find(item: WorkItem): Promise<Planned | undefined>;
}

export function createPlannedRuns(store: Store): PlannedRuns {
  const planned = new LRUCache<string, Planned & { readonly event: EventRow }>({
    maxSize: charsMax,
    sizeCalculation: ({ event }) => charsOf(event),
  });
  return {
    remember: (run, event) => void planned.set(run.id, { run, event }),
    async find({ id, scope }) {
      const known = planned.get(id);
      planned.delete(id);
      if (known) return known;
      const run = await findRun(store, scope, id);
      if (!run) return undefined;
      return { run, event: run.event_id === null ? undefined : await findEvent(store, scope, run.event_id) };
    },
  };
}

/** Estimates the size of an event; only its texts can be long. */
function charsOf({ data }: EventRow): number {
  let chars = 1_000;
  for (const value of Object.values(data)) if (typeof value === 'string') chars += value.length;
  return chars;
}
