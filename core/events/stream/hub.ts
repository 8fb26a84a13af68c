// The newest events of one workspace, read and rendered once for all streams that stand at the end of its log. A stream that is
// further behind reads the log for itself, a piece at a time, so that nothing is kept for it. All of it is done in turns.
import type { LoopTurns } from '../../lib/fairness/loop-turns.ts';
import { scopeOf, type Scope, type Store } from '../../store/store.ts';
import type { EventType } from '../catalogue.ts';
import type { FreshEvents } from '../fresh.ts';
import { pageAfter } from '../log.ts';
import { frameOf } from './frame.ts';
import { NewestFrames, pieceCharacters, type Piece } from './newest-frames.ts';

const pageEvents = 200;
/** What it renders in one turn of what was just committed. */
const freshEvents = 50;
/** What the hub reads in one turn (bytes). */
const turnBytes = 256 * 1024;

export interface Hub {
  /** What comes after a sequence, for a stream whose owner pays. */
  after(scope: Scope, sequence: number, wants: (type: EventType) => boolean): Promise<Piece>;
  /** Whether `after` would find anything. */
  hasAfter(sequence: number): boolean;
  /** Events were appended: reads them, then tells who waits. */
  wake(): void;
  /** Calls back once, when more may be there; the returned function forgets that. */
  onMore(callback: () => void): () => void;
}

interface HubOptions {
  readonly store: Store;
  readonly turns: LoopTurns;
  readonly fresh: FreshEvents;
  readonly workspaceId: string;
  /** The last sequence of the log. */
  readonly end: number;
  readonly onError: (error: unknown) => void;
}

export function createHub(options: HubOptions): Hub {
  const { store, turns } = options;
  const newest = new NewestFrames(options.end);
  /** One of each stream at the end of the log, at most. */
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
        const told = [...waiting];
        waiting.clear();
        for (const callback of told) callback();
      }
    } catch (error) {
      options.onError(error);
    } finally {
      reading = false;
    }
  };

  return {
    async after(scope, sequence, wants) {
      const piece = newest.after(sequence, wants);
      return piece ?? turns.run(scope, () => pieceOfLog(store, scope, sequence, wants));
    },
    hasAfter: (sequence) => sequence < newest.last,
    wake: () => void wake(),
    onMore(callback) {
      waiting.add(callback);
      return () => void waiting.delete(callback);
    },
  };
}

async function readOn({ store, turns, fresh, workspaceId }: HubOptions, newest: NewestFrames): Promise<void> {
  const everyone = scopeOf(workspaceId);
  for (let more = true; more;)
    more = await turns.run(everyone, async () => {
      const handed = fresh.after(workspaceId, newest.last, freshEvents);
      if (handed) {
        newest.add(handed.map(frameOf));
        return handed.length === freshEvents;
      }
      const page = await pageAfter(store, everyone, newest.last, { limit: pageEvents, bytesMax: turnBytes });
      newest.add(page.events.map(frameOf));
      return page.more;
    });
}

async function pieceOfLog(
  store: Store,
  scope: Scope,
  sequence: number,
  wants: (type: EventType) => boolean,
): Promise<Piece> {
  const page = await pageAfter(store, scope, sequence, {
    limit: pageEvents,
    wants: ({ type }) => wants(type),
    bytesMax: pieceCharacters,
  });
  return { frames: page.events.map(frameOf), through: page.through };
}
