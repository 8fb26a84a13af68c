// Ranks for manual ordering: text keys, so that moving one item writes one row. Texts compare by bytes, as in SQLite. A rank is an
// integer and a fraction in base 62, as `fractional-indexing` creates it.
import { BASE_62_DIGITS as digits, generateKeyBetween } from 'fractional-indexing';

/**
 * Ranks longer than this are shortened, together with those that share their prefix (`ranksBelow`). About 200 moves into the same
 * gap reach it.
 */
export const rankLengthMax = 64;

/**
 * Returns a rank between two others; null is the end of the order on that side. The same gap gives the same rank, unless a tail
 * makes it different.
 * @param tail characters appended to the rank; must not end in a zero
 * @throws RangeError if `before` is not less than `after`
 */
export function rankBetween(before: string | null, after: string | null, tail = ''): string {
  // The library swaps them.
  if (before !== null && after !== null && before >= after)
    throw new RangeError(`${before} does not come before ${after}.`);
  let rank = generateKeyBetween(before, after);
  // A tail could move a rank with which `after` begins behind it.
  while (tail !== '' && after?.startsWith(rank)) rank = generateKeyBetween(before, rank);
  return rank + tail;
}

/** Null is the end of the order on that side. */
export function isBetween(rank: string, before: string | null, after: string | null): boolean {
  return (before === null || rank > before) && (after === null || rank < after);
}

/** Returns true for a rank that `rankBetween` accepts. */
export function isRank(text: string): boolean {
  try {
    return /^[0-9A-Za-z]+$/.test(text) && generateKeyBetween(text, null) > text;
  } catch {
    return false;
  }
}

/** Returns `count` evenly spaced ranks with a common prefix. They sort among themselves and between the neighbors of the prefix. */
export function ranksBelow(beginning: string, count: number): string[] {
  const width = Math.ceil(Math.log(count + 1) / Math.log(digits.length)) + 1;
  const step = Math.floor(digits.length ** width / (count + 1));
  // Ranks never end in a zero.
  return Array.from({ length: count }, (_, index) => `${beginning}${base62((index + 1) * step, width)}V`);
}

/** Returns the last `width` digits of a number. */
export function base62(value: number, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest = Math.floor(rest / digits.length))
    text = digits[rest % digits.length]! + text;
  return text;
}

export function fromBase62(text: string): number {
  return [...text].reduce((value, digit) => value * digits.length + digits.indexOf(digit), 0);
}
