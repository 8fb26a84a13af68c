// A page of objects as they were, and lists of resources whose every object can be read from the log.
import type { Context } from '../../context.ts';
import { askedOf, cursorOf, type PageParameters } from '../../changes/list.ts';
import type { Contract } from '../../contract/contract.ts';
import { decodeCursor, encodeCursor, type CursorValue } from '../../lib/cursor.ts';
import { limitDefault } from '../../lib/schema.ts';
import { givenOf, pageBytesMax, type Page } from '../../store/page.ts';
import { compared, placeOf, type Key } from './sorting.ts';
import type { Was } from './objects.ts';

/** What the cursors of a list as it was are valid for. */
const listOf = ({ workspaceId }: Context, { path }: Contract, query: PageParameters): string =>
  `${workspaceId} ${path} as of ${JSON.stringify(givenOf(askedOf(query)))}`;

/** Where the page begins; null at the start. @throws ApiError invalid_cursor */
export function beginOf(ctx: Context, contract: Contract, query: PageParameters): CursorValue[] | null {
  const after = cursorOf(query);
  return after === undefined ? null : decodeCursor(ctx.sealing, listOf(ctx, contract, query), after);
}

interface Standing {
  /** In any order, everything that may stand on the page. */
  readonly all: readonly Was[];
  readonly keys: readonly Key[];
  /** As `beginOf` has it. */
  readonly begin: readonly CursorValue[] | null;
  /** Whether nothing follows that is not among them. */
  readonly isWhole: boolean;
}

/** The next page. */
export function pageOfAll(
  ctx: Context,
  contract: Contract,
  query: PageParameters,
  { all, keys, begin, isWhole }: Standing,
): Page<Was> {
  const placed = all
    .map((shown) => ({ shown, place: placeOf(keys, shown) }))
    .filter(({ place }) => begin === null || compared(keys, place, begin) > 0)
    .sort((a, b) => compared(keys, a.place, b.place));
  const page: typeof placed = [];
  let bytes = 0;
  for (const one of placed) {
    if (page.length === (query.limit ?? limitDefault) || bytes > pageBytesMax) break;
    page.push(one);
    bytes += String(one.shown.description ?? '').length;
  }
  const last = page.at(-1);
  return {
    data: page.map(({ shown }) => shown),
    pageInfo: {
      hasNextPage: !isWhole || placed.length > page.length,
      endCursor: last ? encodeCursor(ctx.sealing, listOf(ctx, contract, query), last.place) : null,
    },
  };
}
