import { expect, test } from 'bun:test';
import { createRunRate } from './limits.ts';

test('each install starts runs up to its own limit, and further runs wait for the next minute', () => {
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

test('beyond the capacity, the least recently run install is evicted', () => {
  const rate = createRunRate(1, () => 1_000, 2);
  for (const install of ['a', 'b', 'b']) rate.take(install);
  expect(rate.take('a')).toBe(60_000);
  rate.take('c');
  expect([rate.take('a'), rate.take('b')]).toEqual([60_000, null]);
});
