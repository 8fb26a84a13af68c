// Boards at a past moment. The issues of that moment are grouped and sorted in memory. A card that has not
// moved since uses its current rank; any other uses the rank of its last move before the moment. A request
// reads the issues, plus one event per earlier move of each card that moved since.
import type { Context } from '../../kernel/context.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { cursorOf } from '../../kernel/changes/list.ts';
import { renderData } from '../../kernel/events/event.ts';
import { eventsAt } from '../../kernel/events/log/log.ts';
import { decodeCursor, encodeCursor, type CursorValue } from '../../platform/lib/cursor.ts';
import { ApiError, notFound } from '../../platform/lib/errors/errors.ts';
import { limitDefault } from '../../platform/lib/schema.ts';
import { momentOf, toMomentResponse, type Moment } from '../../kernel/resource/as-of/past.ts';
import { objectsAt, type Was } from '../../kernel/resource/as-of/objects.ts';
import {
  contextAt,
  isSeen,
  compared,
  sortValuesOf,
  type AsOfSortKey as SortedBy,
} from '../../kernel/resource/as-of/list.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import {
  allIssuesAt,
  parentsAt,
  issueKeys,
  issueFiltering,
  type IssueResponse,
  withIssueVisibility,
  shapeIssues,
  type Shape,
} from '../issues/index.ts';
import { perColumnDefault } from './bodies.ts';
import { cardKind, boardModel, type Board } from './model.ts';
import {
  cellByKey,
  columnsOf,
  filledOf,
  listOf,
  shapeOfCards,
  withoutDescription,
  type Card,
  type CardsQuery,
  type OfColumn,
  type PageOfCell,
} from './cards.ts';
import type { BoardCell } from './cells.ts';
import { board as contract, byHand } from './contract.ts';
import { defaultRank } from './ranks/default-rank.ts';
import type { Grouped } from './grouping.ts';
import { layoutBy, keysHad, resolveBoard, isInGroup, type ResolvedBoard } from './layout.ts';
import { boardCardTable } from './tables.ts';

/** Limits for the issues on the board, and for the earlier moves of the cards that moved since. */
const issuesMax = 10_000;
const movesMax = 20_000;

/** @throws ApiError not_found, validation_failed, budget_exceeded */
export async function boardCardsAt(
  ctx: Context,
  id: string,
  { perColumn = perColumnDefault, fields, asOf }: CardsQuery & { readonly asOf: string },
) {
  const shape = shapeOfCards(withIssueVisibility(ctx), fields);
  const was = await boardAt(ctx, id, asOf);
  const { resolved, cards, moment } = was;
  const { columns, lanes } = resolved;
  const counted = cards.flatMap(({ grouped }) =>
    keysHad(resolved, columns, grouped).map((in_column) => ({
      in_column,
      in_lane: lanes ? keysHad(resolved, lanes, grouped)[0]! : null,
      cards: 1,
    })),
  );
  const layout = layoutBy(resolved, counted);
  const pages = new Map<string, PageOfCell>();
  for (const { name, cell } of filledOf(layout, perColumn))
    pages.set(name, await pageOf(was, cell, { shape, asOf, limit: perColumn, from: null }));
  const { id: boardId, name } = resolved.board;
  return { board: { id: boardId, name }, ...columnsOf(layout, pages), asOf: toMomentResponse(moment) };
}

/**
 * @throws ApiError not_found, also for a column or lane that the board did not have; validation_failed,
 * invalid_cursor, budget_exceeded
 */
export async function columnCardsAt(
  ctx: Context,
  id: string,
  key: string,
  { asOf, ...query }: OfColumn & { readonly asOf: string },
) {
  const shape = shapeOfCards(withIssueVisibility(ctx), query.fields);
  const was = await boardAt(ctx, id, asOf);
  const cell = cellByKey(was.resolved, key, query.lane);
  const after = cursorOf(query);
  const from =
    after === undefined ? null : decodeCursor(ctx.sealing, listOf(ctx, was.resolved, cell, asOf), after);
  const limit = query.limit ?? limitDefault;
  const { cards: data, pageInfo } = await pageOf(was, cell, { shape, asOf, limit, from });
  return { data, pageInfo, asOf: toMomentResponse(was.moment) };
}

/** A card with its position: its rank, or the values of the sort keys. */
interface CardThen {
  readonly response: Was;
  readonly grouped: Grouped;
  readonly at: readonly CursorValue[];
}

interface BoardThen {
  readonly moment: Moment;
  readonly visibleCtx: Context;
  readonly resolved: ResolvedBoard<Board>;
  /** In board order. */
  readonly cards: readonly CardThen[];
  readonly keys: readonly SortedBy[];
}

async function boardAt(ctx: Context, id: string, asOf: string): Promise<BoardThen> {
  const moment = await momentOf(ctx, asOf);
  const response = (await objectsAt(ctx, contract, [id], moment)).get(id);
  if (!response || response.deletedAt !== null || !isSeen(ctx, contract, response)) throw notFound();
  const then = await contextAt(withIssueVisibility(ctx), moment);
  const board = entityOf(response as Was & EntityResponse<typeof contract>, then);
  const resolved = await resolveBoard(then, board);
  const passes = await issueFiltering.passes(then, [{ tree: board.filter, at: 'filter', wasTaken: true }]);
  const { conditions } = resolved;
  const ofBoard = { ...then, visibleTeams: resolved.teams };
  const selection = { conditions, passes, most: issuesMax };
  const { issues, changed } = await allIssuesAt(ofBoard, moment, selection);
  const isByHand = board.sort === byHand;
  const ranks = isByHand ? await ranksAt(ctx, board, issues, new Set(changed), moment) : null;
  const keys: SortedBy[] = isByHand ? [{ of: () => '', direction: 'asc' }] : issueKeys(board.sort, then);
  const cards = issues.map((issue): CardThen => {
    const rank = ranks?.get(issue.id) ?? defaultRank(Date.parse(String(issue.createdAt)), issue.id);
    return {
      response: issue,
      grouped: groupedOf(issue, then),
      at: ranks ? [rank] : sortValuesOf(keys, issue),
    };
  });
  return {
    moment,
    visibleCtx: then,
    resolved,
    keys,
    cards: cards.sort((a, b) => compared(keys, a.at, b.at)),
  };
}

/** Converts the API representation back to the stored form. */
function entityOf(
  { team: key, createdAt, updatedAt, ...rest }: EntityResponse<typeof contract>,
  { directory }: Context,
): Board {
  const team = [...directory.teams.values()].find((one) => one.key === key);
  const times = { createdAt: Date.parse(createdAt), updatedAt: Date.parse(updatedAt), deletedAt: null };
  return { ...rest, teamId: team?.id ?? null, ...times };
}

function groupedOf(response: Was, { directory }: Context): Grouped {
  const { state, assignee, priority, labels, fields } = response as Was & IssueResponse;
  return {
    stateId: state.id,
    assigneeId: assignee?.id ?? null,
    priority,
    labelIds: labels.map(({ id }) => id),
    fieldValues: Object.fromEntries(
      [...directory.fields.values()].flatMap(({ id, key }) => (key in fields ? [[id, fields[key]!]] : [])),
    ),
  };
}

interface Paging {
  readonly shape: Shape | null;
  readonly asOf: string;
  readonly limit: number;
  readonly from: readonly CursorValue[] | null;
}

async function pageOf(
  { moment, visibleCtx, resolved, cards, keys }: BoardThen,
  cell: BoardCell,
  { shape, asOf, limit, from }: Paging,
): Promise<PageOfCell> {
  const { column, lane } = cell;
  const all = cards.filter(
    ({ grouped, at }) =>
      isInGroup(resolved, resolved.columns, column, grouped) &&
      (!lane || !resolved.lanes || isInGroup(resolved, resolved.lanes, lane, grouped)) &&
      (from === null || compared(keys, at, from) > 0),
  );
  const page = all.slice(0, limit);
  const response = await parentsAt(
    visibleCtx,
    moment,
    page.map((card) => card.response),
  );
  const last = page.at(-1);
  return {
    cards: (await shapeIssues(visibleCtx, response as (Was & IssueResponse)[], shape)).map((card): Card =>
      withoutDescription(card),
    ),
    pageInfo: {
      hasNextPage: all.length > page.length,
      endCursor: last
        ? encodeCursor(visibleCtx.sealing, listOf(visibleCtx, resolved, cell, asOf), [...last.at])
        : null,
    },
  };
}

const ranksNow = boardCardTable.select('ranks_now', ['issue_id', 'rank'], ['board_id']);
const ofCard = `e.workspace_id = :ws AND e.issue_id IS NULL AND e.entity_type = '${cardKind}' AND e.entity_id = value`;
const movedSince = tenantStatement<{ id: string }>(
  'as_of.cards_moved_since',
  `SELECT value AS id FROM json_each(:ids)
   WHERE EXISTS (SELECT 1 FROM events AS e INDEXED BY events_object WHERE ${ofCard} AND e.sequence > :at)`,
);
const movesUntil = tenantStatement<{ sequence: number }>(
  'as_of.moves_until',
  `SELECT e.sequence AS sequence FROM json_each(:ids) CROSS JOIN events AS e INDEXED BY events_object ON ${ofCard}
   WHERE e.sequence <= :at LIMIT ${movesMax + 1}`,
);

/** Returns the manual ranks that cards had at the past moment. @throws ApiError budget_exceeded */
async function ranksAt(
  ctx: Context,
  { id: boardId }: Board,
  issues: readonly Was[],
  changed: ReadonlySet<string>,
  { sequence: at }: Moment,
): Promise<ReadonlyMap<string, string>> {
  const { store, scope } = ctx;
  const ids = issues.map(({ id }) => id);
  // Must be read before the moves, so that a card that moves in between is recognized as moved.
  const now = await ranksNow.all(store, scope, { board_id: boardId });
  const isThere = (await boardModel.find(ctx, boardId)) !== undefined;
  const moved = new Set(
    (await store.read(scope, movedSince, { ids: JSON.stringify(ids), at })).map(({ id }) => id),
  );
  // Purging a board or an issue deletes its ranks, so these come from the log.
  const isOld = (id: string): boolean => !isThere || moved.has(id) || changed.has(id);
  const ranks = new Map(now.flatMap(({ issue_id: id, rank }) => (isOld(id) ? [] : [[id, rank] as const])));
  const logged = JSON.stringify(ids.filter(isOld));
  const moves = await store.read(scope, movesUntil, { ids: logged, at });
  if (moves.length > movesMax)
    throw new ApiError(
      'budget_exceeded',
      `More than ${movesMax} moves would have to be read. Use a later asOf.`,
    );
  const sequences = moves.map(({ sequence }) => sequence).sort((a, b) => a - b);
  for (let from = 0; from < sequences.length; from += 500) {
    const events = await eventsAt(store, scope, sequences.slice(from, from + 500));
    for (const event of events.sort((a, b) => a.sequence - b.sequence)) {
      const { board, issue, rank } = renderData(event) as {
        board: { id: string };
        issue: { id: string };
        rank: string;
      };
      if (board.id === boardId) ranks.set(issue.id, rank);
    }
  }
  return ranks;
}
