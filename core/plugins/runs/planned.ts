// Runs that were planned lately, with their events, so that their first attempt reads neither again; as far as memory allows.
import { LRUCache } from 'lru-cache';
import type { EventRow } from '../../events/event.ts';
import type { RunRow } from './rows.ts';

const charsMax = 32 * 1024 * 1024;

interface Planned {
  readonly run: RunRow;
  readonly event: EventRow;
}

export interface PlannedRuns {
  remember(run: RunRow, event: EventRow): void;
  /** Forgets it too. */
  take(runId: string): Planned | undefined;
}

export function createPlannedRuns(): PlannedRuns {
  const planned = new LRUCache<string, Planned>({
    maxSize: charsMax,
    sizeCalculation: ({ event }) => charsOf(event),
  });
  return {
    remember: (run, event) => void planned.set(run.id, { run, event }),
    take(runId) {
      const found = planned.get(runId);
      planned.delete(runId);
      return found;
    },
  };
}

/** About: what is long in an event is its texts. */
function charsOf({ data }: EventRow): number {
  let chars = 1_000;
  for (const value of Object.values(data)) if (typeof value === 'string') chars += value.length;
  return chars;
}
