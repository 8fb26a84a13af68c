import { expect, test } from 'bun:test';
import { idealLine, scopeChanges } from './burn-up.ts';

test('a scope change is listed on its day, and the first day is none', () => {
  const days = [3, 3, 5, 4].map((scope, index) => ({ day: `2026-11-0${index + 1}`, scope }));
  expect(scopeChanges(days)).toEqual([
    { day: '2026-11-03', by: 2 },
    { day: '2026-11-04', by: -1 },
  ]);
});

test('the ideal line reaches the scope on the last day of the cycle', () => {
  const days = ['2026-11-01', '2026-11-02', '2026-11-03'];
  expect(idealLine(days, 10, '2026-11-04T00:00:00Z')).toEqual([0, 5, 10]);
  expect(idealLine([], 10, '2026-11-04T00:00:00Z')).toEqual([]);
});
