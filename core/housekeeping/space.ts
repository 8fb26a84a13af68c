// Returns free pages to the disk if there are many. Some remain for the next writes, which would otherwise
// allocate them again.
import type { Store } from '../store/store.ts';
import { rest } from './sweeper.ts';

/** Shares of free pages in the file: returning starts above `begin` and stops at `end`. */
const freeShare = { begin: 0.05, end: 0.02 };
/** Fewer free pages than this are not returned. */
const freePagesMin = 256;
/** Pages per step; each freed page costs a read and a write. */
const stepPages = 128;

/** @returns the number of freed pages */
export async function giveSpaceBack(store: Store, isStopped: () => boolean): Promise<number> {
  const first = await store.reclaim(0);
  if (!first || first.free < Math.max(freePagesMin, first.pages * freeShare.begin)) return 0;
  let space = first;
  while (!isStopped() && space.free > space.pages * freeShare.end) {
    const startedMs = performance.now();
    const next = await store.reclaim(stepPages);
    // A file without incremental auto-vacuum cannot free any pages.
    if (!next || next.pages === space.pages) break;
    space = next;
    await rest(performance.now() - startedMs);
  }
  return first.pages - space.pages;
}
