import { expect, test } from 'bun:test';
import { type Phrase, rangesIn } from './query.ts';
import { wordMax } from './words.ts';

/** Suffix that forces the path for non-ASCII text without adding a word. */
const notAscii = ' …';
const reach = 40;

test('a search letter by letter finds the same ranges as a search word by word', () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));
  let state = seed;
  const below = (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const oneOf = <T>(all: readonly T[]): T => all[below(all.length)]!;
  const long = 'x'.repeat(wordMax);
  const words = ['a', 'aa', 'ab', 'b', 'b1', '1', long];
  const between = [' ', '  ', '_', '-', '.\n', "'", ''];
  let matches = 0;
  for (let round = 0; round < 3_000; round++) {
    const text = Array.from({ length: below(24) }, () => {
      const word = oneOf([...words, `${long}y`]);
      return (below(4) === 0 ? word.toUpperCase() : word) + oneOf(between);
    }).join('');
    const wanted = Array.from({ length: 1 + below(3) }, (): Phrase => ({
      words: Array.from({ length: 1 + below(3) }, () => oneOf(words)),
      isBeginning: below(2) === 0,
    }));
    const near = (ranges: ReturnType<typeof rangesIn>) =>
      ranges.filter(({ end }) => end <= ranges[0]!.start + reach);
    const expected = near(rangesIn(text + notAscii, wanted, reach));
    expect(near(rangesIn(text, wanted, reach)), `seed ${seed}: ${JSON.stringify({ text, wanted })}`).toEqual(
      expected,
    );
    matches += expected.length;
  }
  expect(matches).toBeGreaterThan(1_000);
});
