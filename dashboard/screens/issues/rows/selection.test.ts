import { expect, test } from 'bun:test';
import type { GridRow } from './grid.tsx';
import { extended } from './selection.ts';

const rows = ['a', 'b', 'c', 'd', 'e'].map((id): GridRow => ({ kind: 'issue', issue: { id } as never, id }));
const group = { kind: 'group', group: {} as never, isCollapsed: false } as const;

const after = (before: string, anchor: number, from: number, to: number, of: readonly GridRow[] = rows) =>
  [...extended(of, new Set(before), { anchor, from, to })].sort().join('');

test('Shift selects all rows between the anchor and the clicked row, downwards and upwards', () => {
  expect(after('b', 1, 1, 3)).toBe('bcd');
  expect(after('d', 3, 3, 1)).toBe('bcd');
});

test('a range that ends at a nearer row, or on the other side, leaves the other rows', () => {
  expect(after('bcde', 1, 4, 2)).toBe('bc');
  expect(after('cde', 2, 4, 0)).toBe('abc');
});

test('rows that were selected outside of the range stay selected', () => {
  expect(after('ad', 3, 3, 4)).toBe('ade');
});

test('a range includes the issues of several groups', () => {
  expect(after('a', 1, 1, 4, [group, rows[0]!, group, rows[1]!, rows[2]!])).toBe('abc');
});
