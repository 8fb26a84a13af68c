import { expect, test } from 'bun:test';
import { both, changedFilter, chipFields, conditionsOf, filterOf, newChip, testsOf } from './filter.ts';

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
  const tree = {
    team: 'ENG',
    priority: { in: ['low'] },
    label: { neq: 'bug' },
    title: { eq: 'Crash' },
    estimate: 3,
    assignee: { eq: null },
    project: { null: true },
  };
  expect(conditionsOf(tree)).toEqual([
    { field: 'team', test: 'in', values: ['ENG'] },
    { field: 'priority', test: 'in', values: ['low'] },
    { field: 'label', test: 'nin', values: ['bug'] },
    { field: 'title', test: 'in', values: ['Crash'] },
    { field: 'estimate', test: 'in', values: ['3'] },
    { field: 'assignee', test: 'none', values: [] },
    { field: 'project', test: 'none', values: [] },
  ]);
});

test('every test of every field is shown as the chip that a person chose', () => {
  for (const field of chipFields)
    for (const one of testsOf(field)) {
      const chip = { ...newChip(field), test: one, values: one === 'none' ? [] : ['3'] };
      expect(conditionsOf(filterOf([chip]))).toEqual([chip]);
    }
});

test('a missing value among others is the choice for it', () => {
  const chip = { field: 'assignee', test: 'in', values: ['mem_1', 'none'] } as const;
  expect(conditionsOf({ assignee: ['mem_1', null] })).toEqual([chip]);
  expect(filterOf([chip])).toEqual({ assignee: ['mem_1', 'none'] });
});

test.each([
  [{ not: { label: 'bug' } }],
  [{ milestone: 'Beta' }],
  [{ 'fields.browser': 'Firefox' }],
  [{ priority: { gte: 'high' } }],
  [{ dueDate: { gte: '2027-01-01', lt: '2027-02-01' } }],
  // A person chooses one day, and no day is a condition of its own.
  [{ dueDate: ['2027-01-01', '2027-01-02'] }],
  [{ dueDate: ['2027-01-01', null] }],
  [{ priority: ['high', null] }],
  [{ assignee: { null: false } }],
  [{ createdAt: null }],
  [{ assignee: { neq: null } }],
  // The server explains wrong values.
  [{ estimate: { gte: 'three' } }],
  [{ and: ['high'] }],
  [{ and: 'high' }],
])('a condition that no chip can show is retained: %p', (tree) => {
  expect(conditionsOf(tree)).toEqual([{ tree }]);
  expect(filterOf(conditionsOf(tree))).toEqual(tree);
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
