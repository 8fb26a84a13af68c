import { expect, test } from 'bun:test';
import { both, changedFilter, conditionsOf, filterOf } from './filter.ts';

test.each([
  [{ state: ['wfs_1', 'wfs_2'] }],
  [{ and: [{ priority: ['high'] }, { assignee: null }] }],
  [{ label: { nin: ['lbl_1'] } }],
  [{ title: { contains: 'crash' } }],
  [{ estimate: [3] }],
  [{ or: [{ team: 'ENG' }, { team: 'OPS' }] }],
  [{ and: [{ not: { label: 'bug' } }, { dueDate: { lt: 'P7D' } }] }],
])('chips of %p give the same filter', (tree) => {
  expect(filterOf(conditionsOf(tree))).toEqual(tree);
});

test('short forms of the filter language become chips', () => {
  expect(conditionsOf({ team: 'ENG', priority: { in: ['low'] }, assignee: { eq: null } })).toEqual([
    { field: 'team', test: 'in', values: ['ENG'] },
    { field: 'priority', test: 'in', values: ['low'] },
    { field: 'assignee', test: 'none', values: [] },
  ]);
});

test('a missing value among others is the choice for it', () => {
  const chip = { field: 'assignee', test: 'in', values: ['mem_1', 'none'] } as const;
  expect(conditionsOf({ assignee: ['mem_1', null] })).toEqual([chip]);
  expect(filterOf([chip])).toEqual({ assignee: ['mem_1', 'none'] });
});

test('a condition that no chip can show is retained', () => {
  const tree = { not: { label: 'bug' } };
  expect(conditionsOf(tree)).toEqual([{ tree }]);
});

test('no conditions are no filter', () => {
  expect(filterOf([])).toBeUndefined();
  expect(both(undefined, { team: 'ENG' })).toEqual({ team: 'ENG' });
});

const ofView = { and: [{ team: 'ENG' }, { priority: ['high'] }] };

test.each([
  ['other conditions', { team: 'ENG' }, { team: 'ENG' }],
  ['no conditions', undefined, {}],
  ['the same conditions', { and: [{ team: ['ENG'] }, { priority: ['high'] }] }, undefined],
  ['the same conditions in another order', { and: [{ priority: 'high' }, { team: 'ENG' }] }, undefined],
])('for a view, the address of %s has the filter only if it differs', (_, filter, inAddress) => {
  expect(changedFilter(filter, ofView)).toEqual(inAddress);
});

test('a view without conditions has no filter in the address', () => {
  expect(changedFilter(undefined, {})).toBeUndefined();
});
