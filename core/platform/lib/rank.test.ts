import { expect, test } from 'bun:test';
import { isRank, rankBetween, rankLengthMax, ranksBelow } from './rank.ts';

test.each([
  [null, null, 'a0'],
  [null, 'a0', 'Zz'],
  [null, 'Zz', 'Zy'],
  [null, 'Z0', 'Yzz'],
  [null, 'Y00', 'Xzzz'],
  [null, 'b00', 'az'],
  [null, 'a0V', 'a0'],
  ['a0', null, 'a1'],
  ['az', null, 'b00'],
  ['bzz', null, 'c000'],
  ['Zz', null, 'a0'],
  ['Yzz', null, 'Z0'],
  ['a0', 'a1', 'a0V'],
  ['a0V', 'a1', 'a0l'],
  ['Zz', 'a0', 'ZzV'],
  ['Zz', 'a1', 'a0'],
  ['a0', 'a0V', 'a0G'],
  ['a0', 'a0G', 'a08'],
  ['a0', 'a01', 'a00V'],
  ['a0z', 'a1', 'a0zV'],
  ['a1', 'a2', 'a1V'],
] as const)('a rank between %p and %p is %p', (before, after, rank) => {
  expect(rankBetween(before, after)).toBe(rank);
});

test.each([
  ['a0', true],
  ['m0123456789abcV', true],
  [`z${'z'.repeat(26)}`, true],
  ['', false],
  ['m0123', false],
  ['a00', false],
  ['a0_1', false],
  ['10', false],
  [`A${'0'.repeat(26)}`, false],
])('%p is a rank: %p', (text, isOne) => {
  expect(isRank(text)).toBe(isOne);
});

test('no rank is returned between unordered bounds', () => {
  expect(() => rankBetween('a1', 'a0')).toThrow(RangeError);
  expect(() => rankBetween('a1', 'a1')).toThrow(RangeError);
});

test('ranks exist before the first and after the last rank', () => {
  const first = `A${'0'.repeat(26)}`;
  const last = `z${'z'.repeat(26)}`;
  expect(rankBetween(last, null) > last).toBeTrue();
  expect(rankBetween(null, `${first}V`) < `${first}V`).toBeTrue();
});

test('an order stays consistent under ten thousand moves to any position', () => {
  const seed = Number(process.env.TATAMI_SEED ?? 20261122);
  let state = seed;
  const below = (count: number) => (state = (state * 48271) % 2147483647) % count;
  const order = ranksBelow('a0', 50);
  for (let move = 0; move < 10_000; move++) {
    order.splice(below(order.length), 1);
    const at = below(order.length + 1);
    // Every other rank has a tail.
    const tail = move % 2 === 0 ? '' : `${below(10)}V`;
    order.splice(at, 0, rankBetween(order[at - 1] ?? null, order[at] ?? null, tail));
  }
  expect({ seed, order }).toEqual({ seed, order: [...new Set(order)].sort() });
  expect(order.every((rank) => /^[0-9A-Za-z]+$/.test(rank) && !/^a0.*0$/.test(rank))).toBeTrue();
});

test('ranks stay short at both ends, and grow slowly in one gap', () => {
  let [first, last, inside] = [rankBetween(null, null), rankBetween(null, null), 'a1'];
  let insertions = 0;
  for (let count = 0; count < 10_000; count++) {
    [first, last] = [rankBetween(null, first), rankBetween(last, null)];
    if (inside.length > rankLengthMax) continue;
    inside = rankBetween('a0', inside);
    insertions += 1;
  }
  expect(first.length).toBeLessThanOrEqual(4);
  expect(last.length).toBeLessThanOrEqual(4);
  expect(insertions).toBeGreaterThan(300);
});

test('a rank with a tail is inside its gap, and another tail gives another rank in the same gap', () => {
  const ends = [null, 'Zz', 'a0', 'a0V', 'a1', 'a11', 'a1V', 'm0123456789abc', 'm0123456789abcV'];
  for (const [at, before] of ends.entries())
    for (const after of [...ends.slice(at + 1), null]) {
      const ranks = ['01k', '0V', 'zzz'].map((tail) => rankBetween(before, after, tail));
      expect([before, after, new Set(ranks).size]).toEqual([before, after, 3]);
      for (const rank of ranks) {
        expect([before, rank, rank > (before ?? '')]).toEqual([before, rank, true]);
        expect([after, rank, rank < (after ?? '~')]).toEqual([after, rank, true]);
      }
    }
});

test('ranks below a prefix are ordered, and lie between their neighbors', () => {
  const ranks = ranksBelow('a0', 5_000);
  expect(['a0', ...ranks, 'a1']).toEqual([...new Set(['a0', ...ranks, 'a1'])].sort());
  expect(ranksBelow('a0', 0)).toEqual([]);
});
