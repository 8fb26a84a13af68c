import { expect, test } from 'bun:test';
import { indexed, wordsIn } from './words.ts';

/** The last two have a lower case that is ASCII or longer than they are. */
const pieces = [
  ...['a', 'B', 'z', '0', '9', 'C', 'x'.repeat(70), ' ', ' ', '\n', '.', '-', '_', '+', '++', '#', 'é', 'ß'],
  ...['保', '🚀', '\u212a', '\u0130'],
];

test('the index has the words of any text, in their order and with the prefix of the workspace', () => {
  let state = 1;
  const below = (count: number): number => (state = (state * 48_271) % 0x7fffffff) % count;
  let words = 0;
  for (let n = 0; n < 20_000; n++) {
    // A third of the texts is ASCII without signs.
    const among = n % 3 === 0 ? 13 : pieces.length;
    const text = Array.from({ length: below(12) }, () => pieces[below(among)]).join('');
    const expected = wordsIn(text).map(({ word }) => ` mark${word}`);
    expect([text, indexed('mark', text)]).toEqual([text, expected.join('')]);
    words += expected.length;
  }
  expect(words).toBeGreaterThan(20_000);
});
