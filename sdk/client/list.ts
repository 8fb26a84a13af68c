/** A paginated list: awaited, it is its first page; iterated, it is all of its items. */
import type { Page } from '../page.ts';

export type List<Item> = Promise<Page<Item>> & AsyncIterable<Item>;

/** @param pageAfter returns the page after a cursor; null for the first page */
export function listOf<Item>(pageAfter: (cursor: string | null) => Promise<Page<Item>>): List<Item> {
  const first = pageAfter(null);
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      for (let page = await first; ;) {
        yield* page.data;
        const { hasNextPage, endCursor } = page.pageInfo;
        if (!hasNextPage || endCursor === null) return;
        page = await pageAfter(endCursor);
      }
    },
  });
}
