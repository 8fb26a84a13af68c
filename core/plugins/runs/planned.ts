// The run of a work item and its event. Those that were planned lately are kept in memory, so that their first attempt reads
// neither again.
import { LRUCache } from 'lru-cache';
import type { EventRow } from '../../events/event.ts';
import { findEvent } from '../../events/log.ts';
import type { WorkItem } from '../../events/work.ts';
import type { Store } from '../../store/store.ts';
import { findRun, type RunRow } from './rows.ts';

/** Of the events that are kept. */
const charsMax = 32 * 1024 * 1024;

interface Planned {
  readonly run: RunRow;
  /** Of a run for an event. */
  readonly event: EventRow | undefined;
}

export interface PlannedRuns {
  remember(run: RunRow, event: EventRow): void;
  /** Undefined when there is no such run. What was remembered is forgotten: a later attempt reads what is stored. */
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

/** An estimate: what is long in an event is its texts. */
function charsOf({ data }: EventRow): number {
  let chars = 1_000;
  for (const value of Object.values(data)) if (typeof value === 'string') chars += value.length;
  return chars;
}
