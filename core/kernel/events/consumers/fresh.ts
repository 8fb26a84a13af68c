// Cache of the events this process committed last, for consumers and streams at the end of a log. Readers that are
// further behind read the log.
import { LRUCache } from 'lru-cache';
import type { EventRow } from '../event.ts';

const workspaceEventsMax = 1_000;
const cachedCharactersMax = 32 * 1024 * 1024;
const workspaceCharactersMax = 4 * 1024 * 1024;
/** Estimated size of an event without its data, in characters. */
const overhead = 1_000;

export interface FreshEvents {
  /** Adds events of one workspace, oldest first. Call once they are durable and the caches are up to date. */
  add(workspaceId: string, events: readonly EventRow[]): void;
  /** Returns the events after a sequence, oldest first; null if the cache does not hold all of them. */
  after(workspaceId: string, sequence: number, limit: number): readonly EventRow[] | null;
  /** Returns the last cached sequence of a workspace; 0 if none is cached. */
  newest(workspaceId: string): number;
  onAdded(listener: (workspaceId: string) => void): void;
  /** Number of calls that added events, over all workspaces. */
  added(): number;
}

interface Tail {
  events: EventRow[];
  characters: number;
}

const charactersOf = ({ dataJson }: EventRow): number => (dataJson?.length ?? 0) + overhead;

export function createFreshEvents(): FreshEvents {
  const tails = new LRUCache<string, Tail>({
    maxSize: cachedCharactersMax,
    sizeCalculation: ({ characters }) => characters + overhead,
  });
  const listeners: ((workspaceId: string) => void)[] = [];
  let added = 0;
  return {
    add(workspaceId, events) {
      if (events.length === 0) return;
      added++;
      const tail = tails.get(workspaceId) ?? { events: [], characters: 0 };
      extend(tail, events);
      // The tail is set again, so that the cache recomputes its size.
      tails.delete(workspaceId);
      tails.set(workspaceId, tail);
      for (const listener of listeners) listener(workspaceId);
    },
    after(workspaceId, sequence, limit) {
      const events = tails.get(workspaceId)?.events ?? [];
      const first = events[0];
      const last = events.at(-1);
      if (!first || !last || sequence > last.sequence || sequence + 1 < first.sequence) return null;
      const at = sequence + 1 - first.sequence;
      return events.slice(at, at + limit);
    },
    newest: (workspaceId) => tails.peek(workspaceId)?.events.at(-1)?.sequence ?? 0,
    added: () => added,
    onAdded: (listener) => void listeners.push(listener),
  };
}

function extend(tail: Tail, events: readonly EventRow[]): void {
  // Cached events that the new ones do not directly follow are dropped; the log has them.
  if (tail.events.at(-1)?.sequence !== events[0]!.sequence - 1) {
    tail.events = [];
    tail.characters = 0;
  }
  for (const event of events) {
    tail.events.push(event);
    tail.characters += charactersOf(event);
  }
  // Half of the events are dropped, so that few additions have to move the remaining ones.
  const isFull = tail.events.length > workspaceEventsMax || tail.characters > workspaceCharactersMax;
  if (!isFull || tail.events.length === 1) return;
  for (const event of tail.events.splice(0, Math.ceil(tail.events.length / 2)))
    tail.characters -= charactersOf(event);
}
