import { expect, test } from 'bun:test';
import { isReversed, timesOf } from './range.ts';

const local = (...parts: [number, number, number]): string => new Date(...parts).toISOString();

test('a range of days begins with the first one and includes the last one', () => {
  expect(timesOf({ from: '2026-11-30', to: '2026-11-30' })).toEqual({
    since: local(2026, 10, 30),
    until: local(2026, 11, 1),
  });
});

test('a range that ends before it starts is recognized, and an open one is not one', () => {
  const reversed = [
    { from: '2026-12-01', to: '2026-11-30' },
    { from: '2026-12-01' },
    { to: '2026-11-30' },
    {},
  ];
  expect(reversed.map(isReversed)).toEqual([true, false, false, false]);
});

test('a range without a day, or with a text that is no day, is open', () => {
  expect(timesOf({})).toEqual({});
  expect(timesOf({ from: 'yesterday', to: '2026-12-31' })).toEqual({ until: local(2027, 0, 1) });
});
