// State of an open board, and the effect of a move on it. Nothing here reads or writes.
import type { BoardCard, BoardMove, IssueBoard, IssuePatch, PageInfo } from '@tatami/sdk/client';

export type Card = Pick<
  BoardCard,
  'id' | 'identifier' | 'title' | 'priority' | 'labels' | 'assignee' | 'estimate' | 'dueDate' | 'version'
>;

export const cardFields = 'id,identifier,title,priority,labels,assignee,estimate,dueDate,version';

/** Cards of one column, or of one lane of a column, as far as they are loaded. */
export interface Cell {
  readonly column: string;
  /** Null on boards without lanes. */
  readonly lane: string | null;
  readonly count: number;
  readonly cards: readonly Card[];
  readonly hasMore: boolean;
  readonly cursor: string | null;
}

export interface Column {
  readonly key: string;
  readonly value: string | null;
  readonly title: string;
  readonly count: number;
  readonly limit: number | null;
  readonly isHidden: boolean;
}

export interface BoardState {
  readonly columns: readonly Column[];
  readonly lanes: readonly { readonly key: string; readonly title: string; readonly count: number }[] | null;
  /** By column, then lane. `items` lets the live cache replace issues in them. */
  readonly items: readonly Cell[];
  readonly elsewhere: number;
}

export interface Place {
  readonly column: string;
  readonly lane: string | null;
  /** Position among the other cards of the cell; `Infinity` for the end. */
  readonly index: number;
}

export const isOver = ({ limit, count }: Column): boolean => limit !== null && count > limit;

export const cellKey = (column: string, lane: string | null): string => `${column}\n${lane ?? ''}`;

const pageOf = (pageInfo: PageInfo | undefined): Pick<Cell, 'hasMore' | 'cursor'> => ({
  hasMore: pageInfo?.hasNextPage ?? false,
  cursor: pageInfo?.endCursor ?? null,
});

export function stateOf({ columns, lanes, elsewhere }: IssueBoard): BoardState {
  return {
    columns: columns.map(({ key, value, title, count, limit, hidden }) => ({
      key,
      value,
      title,
      count,
      limit,
      isHidden: hidden,
    })),
    lanes,
    elsewhere,
    items: columns.flatMap(({ key: column, count, hidden, cards, pageInfo, lanes: own }): Cell[] => {
      if (lanes === null) {
        const first = cards ?? [];
        const page = hidden ? { hasMore: count > 0, cursor: null } : pageOf(pageInfo);
        return [{ column, lane: null, count, cards: first, ...page }];
      }
      return lanes.map(({ key: lane }) => {
        const cell = own?.find(({ key }) => key === lane);
        const isUnread = hidden && count > 0;
        const page = isUnread ? { hasMore: true, cursor: null } : pageOf(cell?.pageInfo);
        return { column, lane, count: cell?.count ?? 0, cards: cell?.cards ?? [], ...page };
      });
    }),
  };
}

export function cellOf({ items }: BoardState, column: string, lane: string | null): Cell | undefined {
  return items.find((cell) => cell.column === column && cell.lane === lane);
}

/** Returns the state with a further page of a cell. */
export function withPage(
  state: BoardState,
  at: Cell,
  cards: readonly Card[],
  pageInfo: PageInfo,
): BoardState {
  return {
    ...state,
    items: state.items.map((cell) => {
      if (cell.column !== at.column || cell.lane !== at.lane) return cell;
      // A card may have moved between two pages.
      const known = new Set(cell.cards.map(({ id }) => id));
      const all = [...cell.cards, ...cards.filter(({ id }) => !known.has(id))];
      return { ...cell, cards: all, count: Math.max(cell.count, all.length), ...pageOf(pageInfo) };
    }),
  };
}

/**
 * Returns the first cards of each cell, followed by those that were shown before, until they are read again. A card that
 * is among the first of a cell has left its earlier place.
 */
export function withTails(head: BoardState, before: BoardState): BoardState {
  const seen = new Set(head.items.flatMap(({ cards }) => cards.map(({ id }) => id)));
  return {
    ...head,
    items: head.items.map((cell) => {
      const tail =
        cellOf(before, cell.column, cell.lane)?.cards.slice(Math.max(0, cell.cards.length - 1)) ?? [];
      const others = tail.filter(({ id }) => !seen.has(id));
      return cell.hasMore ? { ...cell, cards: [...cell.cards, ...others] } : cell;
    }),
  };
}

/** Returns the place of a card. @param column preferred column, for cards that are in several */
export function placeOf({ items }: BoardState, id: string, column?: string): Place | null {
  const cells = column === undefined ? items : items.filter((cell) => cell.column === column);
  for (const cell of cells) {
    const index = cell.cards.findIndex((card) => card.id === id);
    if (index >= 0) return { column: cell.column, lane: cell.lane, index };
  }
  return null;
}

export const isSamePlace = (a: Place, b: Place): boolean =>
  a.column === b.column && a.lane === b.lane && a.index === b.index;

/** Returns the state after a move, with the counts of both columns. */
export function moved(state: BoardState, card: Card, from: Place, to: Place): BoardState {
  const isFrom = (cell: Cell): boolean => cell.column === from.column && cell.lane === from.lane;
  const isTo = (cell: Cell): boolean => cell.column === to.column && cell.lane === to.lane;
  const items = state.items.map((cell) => {
    if (!isFrom(cell) && !isTo(cell)) return cell;
    const others = cell.cards.filter(({ id }) => id !== card.id);
    if (!isTo(cell)) return { ...cell, cards: others, count: cell.count - 1 };
    const cards = [...others.slice(0, to.index), card, ...others.slice(to.index)];
    return { ...cell, cards, count: cell.count + (isFrom(cell) ? 0 : 1) };
  });
  const changeOf = (key: string): number => Number(key === to.column) - Number(key === from.column);
  const columns = state.columns.map((column) => {
    const change = changeOf(column.key);
    return change === 0 ? column : { ...column, count: column.count + change };
  });
  return { ...state, columns, items };
}

export interface Move {
  readonly card: Card;
  readonly from: Place;
  readonly to: Place;
}

/** Returns the request for a move. A sorted board takes no position. @param state before the move */
export function requestOf(
  state: BoardState,
  { card, from, to, isManual }: Move & { readonly isManual: boolean },
): BoardMove {
  const request: BoardMove = {
    issueId: card.id,
    column: to.column,
    ...(to.lane !== null && { lane: to.lane }),
    from: from.column,
  };
  if (!isManual) return request;
  if (to.index === Infinity) return { ...request, position: 'bottom' };
  const cell = cellOf(state, to.column, to.lane);
  const others = cell?.cards.filter(({ id }) => id !== card.id) ?? [];
  const next = others[to.index];
  if (next) return { ...request, before: next.id };
  const previous = others[to.index - 1];
  if (previous) return { ...request, after: previous.id };
  return { ...request, position: 'top' };
}

/** Fields of an issue that is created in a column. */
export function fieldsOf(groupBy: string, value: string | null): Readonly<Record<string, unknown>> {
  if (value === null) return {};
  if (groupBy.startsWith('fields.')) return { fields: { [groupBy.slice('fields.'.length)]: value } };
  if (groupBy === 'label') return { labels: [value] };
  return { [groupBy === 'stateType' ? 'state' : groupBy]: value };
}

/** Returns the change of an issue whose card moves to another column. */
export function patchOf(groupBy: string, from: string | null, to: string | null): IssuePatch {
  if (groupBy === 'label')
    return {
      ...(to !== null && { addLabels: [to] }),
      ...(from !== null && { removeLabels: [from] }),
    };
  if (groupBy === 'assignee') return { assigneeId: to };
  return fieldsOf(groupBy, to) as IssuePatch;
}

type Direction = 'up' | 'down' | 'left' | 'right';

/** Returns the place of the next card, or of a carried card, in a direction; null at the edge of the board. */
export function neighbor(
  state: BoardState,
  at: Place,
  direction: Direction,
  isCarried: boolean,
): Place | null {
  if (direction === 'left' || direction === 'right')
    return beside(state, at, direction === 'left' ? -1 : 1, isCarried);
  return along(state, at, direction === 'up' ? -1 : 1, isCarried);
}

const lengthOf = (state: BoardState, column: string, lane: string | null): number =>
  cellOf(state, column, lane)?.cards.length ?? 0;

/**
 * Place in the next column of the lane. The focus skips columns without cards and hidden ones, a carried card does not:
 * hidden columns follow the others for it, as they are shown.
 */
function beside(
  state: BoardState,
  { column, lane, index }: Place,
  step: number,
  isCarried: boolean,
): Place | null {
  const hidden = isCarried ? state.columns.filter(({ isHidden }) => isHidden) : [];
  const columns = [...state.columns.filter(({ isHidden }) => !isHidden), ...hidden].map(({ key }) => key);
  for (let at = columns.indexOf(column) + step; at >= 0 && at < columns.length; at += step) {
    const length = lengthOf(state, columns[at]!, lane);
    if (isCarried) return { column: columns[at]!, lane, index: Math.min(index, length) };
    if (length > 0) return { column: columns[at]!, lane, index: Math.min(index, length - 1) };
  }
  return null;
}

/** Place above or below, which may be in the next lane. */
function along(
  state: BoardState,
  { column, lane, index }: Place,
  step: number,
  isCarried: boolean,
): Place | null {
  const lanes: readonly (string | null)[] = state.lanes?.map(({ key }) => key) ?? [null];
  const next = index + step;
  if (next >= 0 && next < lengthOf(state, column, lane)) return { column, lane, index: next };
  for (let at = lanes.indexOf(lane) + step; at >= 0 && at < lanes.length; at += step) {
    const length = lengthOf(state, column, lanes[at]!);
    const last = isCarried ? length : length - 1;
    if (last >= 0) return { column, lane: lanes[at]!, index: step < 0 ? last : 0 };
  }
  return null;
}
