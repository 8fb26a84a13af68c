// The events that this process has just committed, handed on to those who stand at the end of a log: consumers and streams. Who is
// further behind reads the log.
import { LRUCache } from 'lru-cache';
import type { EventRow } from './event.ts';

/** Of one workspace. */
const keptEvents = 1_000;
/** Of all workspaces, and of one of them. */
const keptCharacters = 32 * 1024 * 1024;
const keptCharactersOfOne = 4 * 1024 * 1024;
/** What an event takes beside its data. */
const overhead = 1_000;

export interface FreshEvents {
  /** Events of one workspace, oldest first, once they are durable and the caches have moved along. */
  add(workspaceId: string, events: readonly EventRow[]): void;
  /** What comes after a sequence, oldest first; null where not all of it is here. */
  after(workspaceId: string, sequence: number, limit: number): readonly EventRow[] | null;
  /** The sequence of the last one of a workspace; 0 where none is here. */
  newest(workspaceId: string): number;
  onAdded(listener: (workspaceId: string) => void): void;
  /** How often events were added, in all workspaces. */
  added(): number;
}

interface Tail {
  events: EventRow[];
  characters: number;
}

const charactersOf = ({ dataJson }: EventRow): number => (dataJson?.length ?? 0) + overhead;

export function createFreshEvents(): FreshEvents {
  const tails = new LRUCache<string, Tail>({
    maxSize: keptCharacters,
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
      // Set anew, so that its size is counted anew.
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
  // Where the new ones do not follow on the others, these are dropped: the log has them.
  if (tail.events.at(-1)?.sequence !== events[0]!.sequence - 1) {
    tail.events = [];
    tail.characters = 0;
  }
  for (const event of events) {
    tail.events.push(event);
    tail.characters += charactersOf(event);
  }
  // Half of them at once, so that few additions have to move what stays.
  const isFull = tail.events.length > keptEvents || tail.characters > keptCharactersOfOne;
  if (!isFull || tail.events.length === 1) return;
  for (const event of tail.events.splice(0, Math.ceil(tail.events.length / 2)))
    tail.characters -= charactersOf(event);
}
