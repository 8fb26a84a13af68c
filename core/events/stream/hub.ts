// The newest events of one workspace, read and rendered once for all streams that stand at the end of its log. A stream that is
// further behind reads the log for itself, a piece at a time, so that nothing is kept for it. All of it is done in turns.
import type { LoopTurns } from '../../lib/fairness/loop-turns.ts';
import { scopeOf, type Scope, type Store } from '../../store/store.ts';
import type { EventType } from '../catalogue.ts';
import { pageAfter } from '../log.ts';
import { frameOf, type Frame } from './frame.ts';

const pageEvents = 200;
const keptFrames = 1_000;
const keptCharacters = 4 * 1024 * 1024;
/** What the hub reads in one turn (bytes). */
const turnBytes = 256 * 1024;
/** A piece ends after the event that passes this size (characters). */
const pieceCharacters = 64 * 1024;

/** What a stream sends at once. */
export interface Piece {
  readonly frames: readonly Frame[];
  /** The event up to which it goes; frames that are not wanted are left out. */
  readonly through: number;
}

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

/** @param options.end the last sequence of the log */
export function createHub(options: {
  store: Store;
  turns: LoopTurns;
  workspaceId: string;
  end: number;
  onError: (error: unknown) => void;
}): Hub {
  const { store, turns, end, onError } = options;
  const everyone = scopeOf(options.workspaceId);
  let kept: Frame[] = [];
  let characters = 0;
  let last = end;
  let reading = false;
  let again = false;
  const waiting = new Set<() => void>();

  const keep = (frames: readonly Frame[]): void => {
    for (const frame of frames) {
      kept.push(frame);
      characters += frame.text.length;
    }
    last = frames.at(-1)?.sequence ?? last;
    let dropped = 0;
    while (kept.length - dropped > keptFrames || characters > keptCharacters)
      characters -= kept[dropped++]!.text.length;
    if (dropped > 0) kept = kept.slice(dropped);
  };

  const read = async (): Promise<void> => {
    for (let more = true; more;)
      more = await turns.run(everyone, async () => {
        const page = await pageAfter(store, everyone, last, { limit: pageEvents, bytesMax: turnBytes });
        keep(page.events.map(frameOf));
        return page.more;
      });
  };

  const tell = (): void => {
    const told = [...waiting];
    waiting.clear();
    for (const callback of told) callback();
  };

  const wake = async (): Promise<void> => {
    again = true;
    if (reading) return;
    reading = true;
    try {
      while (again) {
        again = false;
        await read();
        tell();
      }
    } catch (error) {
      onError(error);
    } finally {
      reading = false;
    }
  };

  return {
    async after(scope, sequence, wants) {
      if (sequence >= last) return { frames: [], through: sequence };
      const first = kept[0]?.sequence ?? Infinity;
      if (sequence + 1 >= first) return pieceOf(kept, sequence + 1 - first, wants);
      return turns.run(scope, async () => {
        const page = await pageAfter(store, scope, sequence, {
          limit: pageEvents,
          wants: ({ type }) => wants(type),
          bytesMax: pieceCharacters,
        });
        return { frames: page.events.map(frameOf), through: page.through };
      });
    },
    hasAfter: (sequence) => sequence < last,
    wake: () => void wake(),
    onMore(callback) {
      waiting.add(callback);
      return () => void waiting.delete(callback);
    },
  };
}

function pieceOf(kept: readonly Frame[], from: number, wants: (type: EventType) => boolean): Piece {
  const frames: Frame[] = [];
  let characters = 0;
  let at = from;
  for (; at < kept.length && characters <= pieceCharacters; at++) {
    const frame = kept[at]!;
    if (!wants(frame.type)) continue;
    frames.push(frame);
    characters += frame.text.length;
  }
  return { frames, through: kept[at - 1]!.sequence };
}
