// Gives the room of what was removed back to the disk, where there is much of it. A little is left for what comes next, which would
// only have to ask the disk for it again.
import type { Store } from '../store/store.ts';
import { rest } from './sweeper.ts';

/** Of the file's pages: past the one it begins, at the other it ends. */
const freeShare = { begin: 0.05, end: 0.02 };
/** A file with fewer free pages is small. */
const freePagesMin = 256;
/** Pages of one step: a page that is given back was read and another one written. */
const stepPages = 128;

/** @returns pages given back */
export async function giveSpaceBack(store: Store, isStopped: () => boolean): Promise<number> {
  const first = await store.reclaim(0);
  if (!first || first.free < Math.max(freePagesMin, first.pages * freeShare.begin)) return 0;
  let space = first;
  while (!isStopped() && space.free > space.pages * freeShare.end) {
    const startedMs = performance.now();
    const next = await store.reclaim(stepPages);
    // Of a file that was not made for it no page can be given back.
    if (!next || next.pages === space.pages) break;
    space = next;
    await rest(performance.now() - startedMs);
  }
  return first.pages - space.pages;
}
