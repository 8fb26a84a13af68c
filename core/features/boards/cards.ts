// Cards of a board: the count and the first page of each column in one response, and the pages that follow.
import { cursorOf, pageOfModel, type PageParameters } from '../../kernel/changes/list.ts';
import { getEntity } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { decodeCursor, encodeCursor } from '../../platform/lib/cursor.ts';
import { invalidField, notFound } from '../../platform/lib/errors/errors.ts';
import { limitDefault } from '../../platform/lib/schema.ts';
import { issueModel, withIssueVisibility, readShape, shapeIssues, type Shape } from '../issues/index.ts';
import { perColumnDefault } from './bodies.ts';
import { readCells, type BoardCell, type CardPosition } from './cells.ts';
import type { Group } from './grouping.ts';
import { boardModel } from './model.ts';
import { findColumn, findLane, layoutOf, type Layout, resolveBoard, type ResolvedBoard } from './layout.ts';

/** Limits for the cells and cards of one response. Cells beyond them need their own request. */
const cellsMax = 150;
const cardsMax = 1_000;

export type Card = Readonly<Record<string, unknown>>;
export type PageOfCell = { cards: Card[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };

export interface CardsQuery {
  readonly perColumn?: number;
  readonly fields?: string;
}

export async function boardCards(ctx: Context, id: string, query: CardsQuery) {
  const board = await getEntity(ctx, boardModel, id);
  const visibleCtx = withIssueVisibility(ctx);
  const cards = await firstCards(visibleCtx, await resolveBoard(visibleCtx, board), query);
  return { board: { id: board.id, name: board.name }, ...cards };
}

/**
 * @param ctx context whose `visibleTeams` are the teams in which the caller may read issues
 * @throws ApiError validation_failed
 */
export async function firstCards(
  ctx: Context,
  resolved: ResolvedBoard,
  { perColumn = perColumnDefault, fields }: CardsQuery,
) {
  const readCards = cardShape(ctx, fields);
  const layout = await layoutOf(ctx, resolved);
  const filled = filledOf(layout, perColumn);
  const positions = await readCells(
    ctx,
    resolved,
    filled.map(({ cell }) => cell),
    { limit: perColumn + 1 },
  );
  const cards = await readCards(positions.flatMap((all) => all.slice(0, perColumn)));
  const pages = new Map(
    filled.map(({ name, cell }, index) => [
      name,
      pageOf(ctx, resolved, cell, positions[index]!, perColumn, cards),
    ]),
  );
  return columnsOf(layout, pages);
}

interface CellEntry {
  readonly name: string;
  readonly cell: BoardCell;
}

/** Returns the visible cells that have cards, up to the limits. */
export function filledOf({ columns, lanes, count }: Layout, perColumn: number): CellEntry[] {
  const all = columns.flatMap((column, at): CellEntry[] => {
    if (column.hidden) return [];
    if (!lanes) return count(at) > 0 ? [{ name: `${at}`, cell: { column, lane: null } }] : [];
    return lanes.flatMap((lane, inLane) =>
      count(at, inLane) > 0 ? [{ name: `${at}/${inLane}`, cell: { column, lane } }] : [],
    );
  });
  return all.slice(0, Math.min(cellsMax, Math.floor(cardsMax / perColumn)));
}

export function columnsOf(
  { columns, lanes, count, elsewhere }: Layout,
  pages: ReadonlyMap<string, PageOfCell>,
) {
  // A cell beyond the limits has no cards in this response; its own request starts at the first card.
  const page = (name: string, counted: number): PageOfCell & { count: number } => {
    const { cards, pageInfo } = pages.get(name) ?? {
      cards: [],
      pageInfo: { hasNextPage: counted > 0, endCursor: null },
    };
    // A card can move between the count and the read; the count then follows the returned cards.
    return { count: pageInfo.hasNextPage ? Math.max(counted, cards.length) : cards.length, cards, pageInfo };
  };
  return {
    columns: columns.map((column, at) => {
      const head = (counted: number) => headOf(column, counted);
      if (column.hidden) return head(count(at));
      if (!lanes) {
        const { count: listed, ...rest } = page(`${at}`, count(at));
        return { ...head(listed), ...rest };
      }
      const inLanes = lanes.flatMap(({ key }, inLane) =>
        count(at, inLane) > 0 ? [{ key, ...page(`${at}/${inLane}`, count(at, inLane)) }] : [],
      );
      return { ...head(count(at)), lanes: inLanes };
    }),
    lanes:
      lanes?.map(({ key, title }, inLane) => ({
        key,
        title,
        count: columns.reduce((sum, _, at) => sum + count(at, inLane), 0),
      })) ?? null,
    elsewhere,
  };
}

function headOf({ key, value, title, limit, hidden }: Group, count: number) {
  return { key, value, title, count, limit, over: limit !== null && count > limit, hidden };
}

export type OfColumn = PageParameters & { readonly lane?: string; readonly fields?: string };

/** @throws ApiError not_found, also for a column or lane that the board does not have; invalid_cursor */
export async function columnCards(ctx: Context, id: string, key: string, query: OfColumn) {
  const board = await getEntity(ctx, boardModel, id);
  const visibleCtx = withIssueVisibility(ctx);
  return cardsOfColumn(visibleCtx, await resolveBoard(visibleCtx, board), key, query);
}

/**
 * @param ctx context whose `visibleTeams` are the teams in which the caller may read issues
 * @throws ApiError not_found for a column or lane that the board does not have; validation_failed, invalid_cursor
 */
export async function cardsOfColumn(ctx: Context, resolved: ResolvedBoard, key: string, query: OfColumn) {
  const readCards = cardShape(ctx, query.fields);
  const cell = cellByKey(resolved, key, query.lane);
  const limit = query.limit ?? limitDefault;
  const after = cursorOf(query);
  const from =
    after === undefined ? {} : { from: decodeCursor(ctx.sealing, listOf(ctx, resolved, cell), after) };
  const [positions = []] = await readCells(ctx, resolved, [cell], { limit: limit + 1, ...from });
  const cards = await readCards(positions.slice(0, limit));
  const page = pageOf(ctx, resolved, cell, positions, limit, cards);
  return { data: page.cards, pageInfo: page.pageInfo };
}

/** @throws ApiError not_found for a column or lane that the board does not have */
export function cellByKey(resolved: ResolvedBoard, key: string, laneKey: string | undefined): BoardCell {
  const column = findColumn(resolved, key);
  const lane = laneKey === undefined ? null : findLane(resolved, laneKey);
  if (!column || lane === undefined) throw notFound();
  return { column, lane };
}

/** Returns the key that cursors of a cell are bound to. */
export function listOf(
  { workspaceId }: Context,
  { board, contents }: ResolvedBoard,
  { column, lane }: BoardCell,
  asOf?: string,
): string {
  const parameters = { ...contents, column: column.key, lane: lane?.key, asOf };
  return `${workspaceId} cards ${board.id ?? 'of issues'} ${JSON.stringify(parameters)}`;
}

function pageOf(
  ctx: Context,
  resolved: ResolvedBoard,
  cell: BoardCell,
  positions: readonly CardPosition[],
  limit: number,
  cards: ReadonlyMap<string, Card>,
): PageOfCell {
  const last = positions.slice(0, limit).at(-1);
  return {
    // An issue that was deleted between the two reads is left out.
    cards: positions.slice(0, limit).flatMap(({ id }): readonly Card[] => {
      const card = cards.get(id);
      return card ? [card] : [];
    }),
    pageInfo: {
      hasNextPage: positions.length > limit,
      endCursor: last ? encodeCursor(ctx.sealing, listOf(ctx, resolved, cell), last.at) : null,
    },
  };
}

/** Parses the fields selected for cards. @throws ApiError validation_failed */
export function shapeOfCards(ctx: Context, fields: string | undefined): Shape | null {
  const shape = readShape(ctx, fields === undefined ? {} : { fields });
  if (shape?.fields?.includes('description'))
    throw invalidField('fields', 'invalid_enum', {
      why: 'Cards have no description.',
      fix: 'Leave description out, and get the issue to read it.',
    });
  return shape;
}

/**
 * Validates the selected fields before any read, and returns a function that reads cards by issue id.
 * @throws ApiError validation_failed
 */
function cardShape(
  ctx: Context,
  fields: string | undefined,
): (positions: readonly CardPosition[]) => Promise<ReadonlyMap<string, Card>> {
  const shape = shapeOfCards(ctx, fields);
  return async (positions) => {
    const ids = JSON.stringify([...new Set(positions.map(({ id }) => id))]);
    const { data } = await pageOfModel(
      ctx,
      issueModel,
      { limit: Math.max(1, positions.length) },
      {
        where: [{ sql: 'id IN (SELECT value FROM json_each(:ids))', params: { ids } }],
        order: [],
        without: ['description'],
      },
    );
    const issues = data.map((issue) => issueModel.toResponse(issue, ctx));
    const shaped = await shapeIssues(ctx, issues, shape);
    return new Map(shaped.map((card, index) => [issues[index]!.id, withoutDescription(card)]));
  };
}

export function withoutDescription<T extends object>(issue: T): Omit<T, 'description'> {
  const { description: _long, ...card } = issue as T & { description?: unknown };
  return card;
}
