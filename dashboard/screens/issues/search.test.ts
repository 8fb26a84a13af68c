import { expect, test } from 'bun:test';
import { columnsOf, issueSearch, lanesOf } from './search.ts';

test('the address keeps the layout of a list', () => {
  expect(issueSearch({ layout: 'board', group: 'priority' })).toEqual({ layout: 'board', group: 'priority' });
  expect(issueSearch({ layout: 'table' })).toEqual({});
});

test.each([
  [undefined, 'state'],
  ['label', 'label'],
  ['cycle', 'state'],
] as const)('a list grouped by %p has columns by %p', (group, columns) => {
  expect(columnsOf(group ? { group } : {})).toBe(columns);
});

test('swimlanes have another field than the columns', () => {
  expect(lanesOf(issueSearch({ layout: 'board', lanes: 'assignee' }))).toBe('assignee');
  expect(lanesOf(issueSearch({ layout: 'board', lanes: 'state' }))).toBeUndefined();
  expect(lanesOf(issueSearch({ layout: 'board', group: 'priority', lanes: 'label' }))).toBeUndefined();
});
