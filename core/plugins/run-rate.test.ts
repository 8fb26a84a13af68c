import { expect, test } from 'bun:test';
import { createRunRate } from './run-rate.ts';

test('an install starts its runs up to the limit, the others wait for the next minute, each install for itself', () => {
  let now = 1_000;
  const rate = createRunRate(2, () => now);
  expect([rate.take('a'), rate.take('a'), rate.take('a'), rate.take('b')]).toEqual([
    null,
    null,
    60_000,
    null,
  ]);
  now = 61_000;
  expect(rate.take('a')).toBe(null);
  expect(createRunRate(0, () => now).take('a')).toBe(null);
});

test('of more installs than are counted at once, the one that ran longest ago is forgotten', () => {
  const rate = createRunRate(1, () => 1_000, 2);
  for (const install of ['a', 'b', 'b']) rate.take(install);
  expect(rate.take('a')).toBe(60_000);
  rate.take('c');
  expect([rate.take('a'), rate.take('b')]).toEqual([60_000, null]);
});
