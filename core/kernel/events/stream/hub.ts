// Reads and renders the newest events of a workspace once for all streams at the end of its log. A stream
// that is further behind reads the log itself, one piece at a time, so that nothing is cached for it. All
// reads go through the fair queue.
import type { LoopQueue } from '../../../platform/lib/fairness/loop-queue.ts';
import { scopeOf, type Scope, type Store } from '../../../platform/store/store.ts';
import type { EventRow } from '../event.ts';
import type { FreshEvents } from '../consumers/fresh.ts';
import { pageAfter } from '../log/log.ts';
import { frameOf, type StreamFrame, type FrameFilter } from './frame.ts';
import { NewestFrames, pieceCharacters, type Piece } from './newest-frames.ts';

const pageEvents = 200;
/** Newly committed events rendered per queue slot. */
const freshEvents = 50;
/** Bytes that the hub reads per queue slot. */
const slotBytes = 256 * 1024;

export interface Hub {
  /** Returns the events after a sequence. The read is charged to the account in `scope`. */
  after(scope: Scope, sequence: number, matches: FrameFilter): Promise<Piece>;
  /** Returns true if `after` would find events. */
  hasAfter(sequence: number): boolean;
  /** Reads appended events, then notifies the waiting streams. */
  wake(): void;
  /** Calls back once when more events may be available. Returns a function that cancels the callback. */
  onMore(callback: () => void): () => void;
}

interface HubOptions {
  readonly store: Store;
  readonly fairQueue: LoopQueue;
  readonly fresh: FreshEvents;
  readonly workspaceId: string;
  /** Log generation. */
  readonly generation: string;
  /** Last sequence of the log. */
  readonly end: number;
  readonly onError: (error: unknown) => void;
}

export function createHub(options: HubOptions): Hub {
  const { store, fairQueue, generation } = options;
  const newest = new NewestFrames(options.end);
  /** At most one callback per stream at the end of the log. */
  const waiting = new Set<() => void>();
  let reading = false;
  let again = false;

  const wake = async (): Promise<void> => {
    again = true;
    if (reading) return;
    reading = true;
    try {
      while (again) {
        again = false;
        await readOn(options, newest);
        const callbacks = [...waiting];
        waiting.clear();
        for (const callback of callbacks) callback();
      }
    } catch (error) {
      options.onError(error);
    } finally {
      reading = false;
    }
  };

  return {
    async after(scope, sequence, matches) {
      const piece = newest.after(sequence, matches);
      return piece ?? fairQueue.run(scope, () => pieceOfLog(store, generation, scope, sequence, matches));
    },
    hasAfter: (sequence) => sequence < newest.last,
    wake: () => void wake(),
    onMore(callback) {
      waiting.add(callback);
      return () => void waiting.delete(callback);
    },
  };
}

async function readOn(options: HubOptions, newest: NewestFrames): Promise<void> {
  const { store, fairQueue, fresh, workspaceId, generation } = options;
  const frame = (row: EventRow): StreamFrame => frameOf(row, generation);
  const everyone = scopeOf(workspaceId);
  for (let more = true; more;)
    more = await fairQueue.run(everyone, async () => {
      const handed = fresh.after(workspaceId, newest.last, freshEvents);
      if (handed) {
        newest.add(handed.map(frame));
        return handed.length === freshEvents;
      }
      const page = await pageAfter(store, everyone, newest.last, { limit: pageEvents, bytesMax: slotBytes });
      newest.add(page.events.map(frame));
      return page.more;
    });
}

async function pieceOfLog(
  store: Store,
  generation: string,
  scope: Scope,
  sequence: number,
  matches: FrameFilter,
): Promise<Piece> {
  const page = await pageAfter(store, scope, sequence, {
    limit: pageEvents,
    matches: ({ type }) => matches(type),
    bytesMax: pieceCharacters,
  });
  const frames = page.events.map((row) => frameOf(row, generation));
  return { frames: frames.filter(({ type, memberId }) => matches(type, memberId)), through: page.through };
}
