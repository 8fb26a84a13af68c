// Pages lists at a past moment, for entities whose objects are all read from the event log.
import type { Context } from '../../context.ts';
import { contentParameters, cursorOf, type PageParameters } from '../../changes/read/list.ts';
import type { Contract } from '../../contract/contract.ts';
import { decodeCursor, encodeCursor, type CursorValue } from '../../../platform/lib/cursor.ts';
import { limitDefault } from '../../../platform/lib/schema.ts';
import { sortedParameters, pageBytesMax, type Page } from '../../../platform/store/page.ts';
import { compared, sortValuesOf, type AsOfSortKey } from './sorting.ts';
import type { Was } from './objects.ts';

/** Identifies the list that a cursor is valid for. */
const listOf = ({ workspaceId }: Context, { path }: Contract, query: PageParameters): string =>
  `${workspaceId} ${path} as of ${JSON.stringify(sortedParameters(contentParameters(query)))}`;

/**
 * Returns the position at which the page starts; null at the start of the list.
 * @throws ApiError invalid_cursor
 */
export function beginOf(ctx: Context, contract: Contract, query: PageParameters): CursorValue[] | null {
  const after = cursorOf(query);
  return after === undefined ? null : decodeCursor(ctx.sealing, listOf(ctx, contract, query), after);
}

interface PageCandidates {
  /** Candidates for the page, in any order. */
  readonly all: readonly Was[];
  readonly keys: readonly AsOfSortKey[];
  /** Result of `beginOf`. */
  readonly begin: readonly CursorValue[] | null;
  /** True if the candidates include the rest of the list. */
  readonly isWhole: boolean;
}

export function pageOfAll(
  ctx: Context,
  contract: Contract,
  query: PageParameters,
  { all, keys, begin, isWhole }: PageCandidates,
): Page<Was> {
  const placed = all
    .map((response) => ({ response, sortValues: sortValuesOf(keys, response) }))
    .filter(({ sortValues }) => begin === null || compared(keys, sortValues, begin) > 0)
    .sort((a, b) => compared(keys, a.sortValues, b.sortValues));
  const page: typeof placed = [];
  let bytes = 0;
  for (const one of placed) {
    if (page.length === (query.limit ?? limitDefault) || bytes > pageBytesMax) break;
    page.push(one);
    bytes += String(one.response.description ?? '').length;
  }
  const last = page.at(-1);
  return {
    data: page.map(({ response }) => response),
    pageInfo: {
      hasNextPage: !isWhole || placed.length > page.length,
      endCursor: last ? encodeCursor(ctx.sealing, listOf(ctx, contract, query), last.sortValues) : null,
    },
  };
}
