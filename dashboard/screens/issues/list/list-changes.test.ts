import { expect, test } from 'bun:test';
import { applyChanges, keysOf, orderOf } from './list-changes.ts';
import type { IssueListData, ListedIssue, ListQuery } from './list-data.ts';

const issue = (id: string, more: Partial<ListedIssue> = {}): ListedIssue =>
  ({
    id,
    priority: 'none',
    createdAt: `2026-11-0${id}`,
    updatedAt: `2026-11-0${id}`,
    labels: [],
    assignee: null,
    ...more,
  }) as unknown as ListedIssue;

const query: ListQuery = { filter: undefined, sort: '-createdAt', group: undefined };
const listOf = (ids: string, next: string | null = null): IssueListData => ({
  count: ids.length,
  groups: [{ key: null, name: null, count: ids.length, items: [...ids].map((id) => issue(id)), next }],
});
const idsOf = (data: IssueListData | null): string =>
  data!.groups.map(({ items }) => items.map(({ id }) => id).join('')).join(' ');

const change = (data: IssueListData, changed: string, members: readonly ListedIssue[], count: number) =>
  applyChanges(data, query, { changed: new Set(changed), members, counted: { count, groups: null } });

test('a new issue appears where the order puts it', () => {
  expect(idsOf(change(listOf('531'), '4', [issue('4')], 4))).toBe('5431');
  expect(idsOf(change(listOf('531'), '6', [issue('6')], 4))).toBe('6531');
});

test('an issue that no longer matches disappears', () => {
  const after = change(listOf('531'), '3', [], 2);
  expect(idsOf(after)).toBe('51');
  expect(after!.count).toBe(2);
});

test('an issue beyond the loaded part waits for its page', () => {
  expect(idsOf(change(listOf('53', 'cursor'), '1', [issue('1')], 9))).toBe('53');
  expect(idsOf(change(listOf('53'), '1', [issue('1')], 3))).toBe('531');
});

test('a changed issue moves between groups', () => {
  const grouped: ListQuery = { ...query, group: 'priority' };
  const data: IssueListData = {
    count: 2,
    groups: [
      { key: 'high', name: 'high', count: 1, items: [issue('2', { priority: 'high' })], next: null },
      { key: 'none', name: 'none', count: 1, items: [issue('1')], next: null },
    ],
  };
  const after = applyChanges(data, grouped, {
    changed: new Set('1'),
    members: [issue('1', { priority: 'high' })],
    counted: { count: 2, groups: [{ key: 'high', name: 'high', count: 2 }] },
  });
  expect(idsOf(after)).toBe('21');
});

test('an order that only the API knows loads the list again', () => {
  expect(orderOf('fields.severity')).toBeNull();
  expect(
    applyChanges(
      listOf('1'),
      { ...query, sort: 'dueDate' },
      { changed: new Set(), members: [], counted: { count: 1, groups: null } },
    ),
  ).toBeNull();
});

test('an issue with several labels is in each of their groups', () => {
  const labels = [
    { id: 'a', name: 'A' },
    { id: 'b', name: 'B' },
  ];
  expect(keysOf('label', issue('1', { labels }))).toEqual(['a', 'b']);
  expect(keysOf('label', issue('1'))).toEqual([null]);
});
