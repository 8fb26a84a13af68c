// The newest events of one workspace, read and rendered once for all streams that stand at the end of its log. A stream that is
// further behind reads the log for itself, so that nothing is kept for it.
import type { Scope, Store } from '../../store/store.ts';
import { eventsAfter } from '../log.ts';
import { frameOf, type Frame } from './frame.ts';

const pageEvents = 200;
const keptFrames = 1_000;
const keptCharacters = 4 * 1024 * 1024;

export interface Hub {
  /** A page of frames after a sequence, ascending; empty at the end of the log. */
  after(sequence: number): Promise<readonly Frame[]>;
  /** Whether `after` would find anything. */
  hasAfter(sequence: number): boolean;
  /** Events were appended: reads them, then tells who waits. */
  wake(): void;
  /** Calls back once, when more may be there; the returned function forgets that. */
  onMore(callback: () => void): () => void;
}

/** @param end the last sequence of the log */
export function createHub(store: Store, scope: Scope, end: number, onError: (error: unknown) => void): Hub {
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
    for (;;) {
      const rows = await eventsAfter(store, scope, last, pageEvents);
      keep(rows.map(frameOf));
      if (rows.length < pageEvents) return;
    }
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
    async after(sequence) {
      if (sequence >= last) return [];
      const first = kept[0]?.sequence ?? Infinity;
      if (sequence + 1 >= first) return kept.slice(sequence + 1 - first, sequence + 1 - first + pageEvents);
      return (await eventsAfter(store, scope, sequence, pageEvents)).map(frameOf);
    },
    hasAfter: (sequence) => sequence < last,
    wake: () => void wake(),
    onMore(callback) {
      waiting.add(callback);
      return () => void waiting.delete(callback);
    },
  };
}
