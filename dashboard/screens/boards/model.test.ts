import { expect, test } from 'bun:test';
import {
  moved,
  neighbor,
  patchOf,
  placeOf,
  requestOf,
  withPage,
  withTails,
  type BoardState,
  type Card,
} from './model.ts';

const card = (id: string): Card => ({
  id,
  identifier: id.toUpperCase(),
  title: id,
  priority: 'none',
  labels: [],
  assignee: null,
  estimate: null,
  dueDate: null,
  version: 1,
});
const cell = (column: string, ids: string[], lane: string | null = null) => ({
  column,
  lane,
  count: ids.length,
  cards: ids.map(card),
  hasMore: false,
  cursor: null,
});
const column = (key: string, count: number) => ({
  key,
  value: key,
  title: key,
  count,
  limit: null,
  isHidden: false,
});
const board: BoardState = {
  columns: [column('todo', 3), column('doing', 0), column('done', 1)],
  lanes: null,
  items: [cell('todo', ['a', 'b', 'c']), cell('doing', []), cell('done', ['d'])],
  elsewhere: 0,
};
const idsOf = (state: BoardState, key: string): string[] =>
  state.items.find((one) => one.column === key)!.cards.map(({ id }) => id);

test('a move takes the card out of its column and changes both counts', () => {
  const from = placeOf(board, 'a')!;
  const after = moved(board, card('a'), from, { column: 'done', lane: null, index: 1 });
  expect(idsOf(after, 'todo')).toEqual(['b', 'c']);
  expect(idsOf(after, 'done')).toEqual(['d', 'a']);
  expect(after.columns.map(({ count }) => count)).toEqual([2, 0, 2]);
  expect(after.items[1]).toBe(board.items[1]!);
});

test('a move within a column counts the position among the other cards', () => {
  const after = moved(board, card('a'), placeOf(board, 'a')!, { column: 'todo', lane: null, index: 2 });
  expect(idsOf(after, 'todo')).toEqual(['b', 'c', 'a']);
  expect(after.columns[0]!.count).toBe(3);
});

test('a request names the card that follows, else the one before, else the top', () => {
  const from = placeOf(board, 'a')!;
  const to = (key: string, index: number, isManual = true) =>
    requestOf(board, { card: card('a'), from, to: { column: key, lane: null, index }, isManual });
  expect(to('todo', 1)).toMatchObject({ column: 'todo', before: 'c' });
  expect(to('done', 1)).toMatchObject({ column: 'done', after: 'd' });
  expect(to('doing', 0)).toMatchObject({ column: 'doing', position: 'top' });
  expect(Object.keys(to('done', 0, false))).toEqual(['issueId', 'column', 'from']);
});

test('focus skips empty columns, and a carried card enters them', () => {
  const at = placeOf(board, 'b')!;
  expect(neighbor(board, at, 'right', false)).toEqual({ column: 'done', lane: null, index: 0 });
  expect(neighbor(board, at, 'right', true)).toEqual({ column: 'doing', lane: null, index: 0 });
  expect(neighbor(board, at, 'left', false)).toBeNull();
  expect(neighbor(board, at, 'down', false)).toEqual({ column: 'todo', lane: null, index: 2 });
});

test('arrows continue in the next lane', () => {
  const laned: BoardState = {
    ...board,
    lanes: [
      { key: 'x', title: 'x', count: 1 },
      { key: 'y', title: 'y', count: 1 },
    ],
    items: [cell('todo', ['a'], 'x'), cell('todo', ['b'], 'y')],
  };
  const at = placeOf(laned, 'a')!;
  expect(neighbor(laned, at, 'down', false)).toEqual({ column: 'todo', lane: 'y', index: 0 });
  expect(neighbor(laned, at, 'up', false)).toBeNull();
});

test('a page that repeats a card does not show it twice', () => {
  const page = { hasNextPage: false, endCursor: null };
  const after = withPage(board, board.items[0]!, [card('c'), card('e')], page);
  expect(idsOf(after, 'todo')).toEqual(['a', 'b', 'c', 'e']);
});

test('a card that moved to the head of another column leaves the tail of its column', () => {
  const head: BoardState = {
    ...board,
    items: [{ ...cell('todo', ['a']), hasMore: true }, cell('doing', ['c']), cell('done', ['d'])],
  };
  const after = withTails(head, board);
  expect(idsOf(after, 'todo')).toEqual(['a', 'b']);
  expect(idsOf(after, 'doing')).toEqual(['c']);
});

test.each([
  ['state', 'Todo', 'Done', { state: 'Done' }],
  ['priority', 'high', 'none', { priority: 'none' }],
  ['assignee', null, 'usr_1', { assigneeId: 'usr_1' }],
  ['assignee', 'usr_1', null, { assigneeId: null }],
  ['label', 'lbl_1', 'lbl_2', { addLabels: ['lbl_2'], removeLabels: ['lbl_1'] }],
  ['label', 'lbl_1', null, { removeLabels: ['lbl_1'] }],
  ['label', null, 'lbl_2', { addLabels: ['lbl_2'] }],
] as const)(
  'a move between columns by %s from %p to %p changes that field alone',
  (groupBy, from, to, patch) => {
    expect(patchOf(groupBy, from, to) as object).toEqual(patch);
  },
);

test('a carried card enters hidden columns after the others, and the focus skips them', () => {
  const [todo, doing, done] = board.columns;
  const state: BoardState = { ...board, columns: [{ ...todo!, isHidden: true }, doing!, done!] };
  const at = placeOf(state, 'd')!;
  expect(neighbor(state, at, 'right', true)).toEqual({ column: 'todo', lane: null, index: 0 });
  expect(neighbor(state, at, 'right', false)).toBeNull();
  expect(neighbor(state, at, 'left', false)).toBeNull();
});
