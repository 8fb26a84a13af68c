// Ranks for manual ordering: text keys, so that moving one item writes one row. Texts compare by bytes, as in SQLite. A rank is an
// integer and a fraction in base 62: the first letter gives the number of integer digits (`a` one, `b` two, …; `Z` one below zero,
// `Y` two, …), so that adding at either end grows ranks only logarithmically. The scheme is David Greenspan's ("Implementing
// Fractional Indexing").

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const least = digits[0]!;
const most = digits.at(-1)!;

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
  if (before !== null && after !== null && before >= after)
    throw new RangeError(`${before} does not come before ${after}.`);
  return beginningBetween(before, after, tail !== '') + tail;
}

/** Null is the end of the order on that side. */
export function isBetween(rank: string, before: string | null, after: string | null): boolean {
  return (before === null || rank > before) && (after === null || rank < after);
}

/** Returns `count` evenly spaced ranks with a common prefix. They sort among themselves and between the neighbors of the prefix. */
export function ranksBelow(beginning: string, count: number): string[] {
  const width = Math.ceil(Math.log(count + 1) / Math.log(digits.length)) + 1;
  const step = Math.floor(digits.length ** width / (count + 1));
  return Array.from({ length: count }, (_, index) => {
    let text = '';
    for (let rest = (index + 1) * step; text.length < width; rest = Math.floor(rest / digits.length))
      text = digits[rest % digits.length]! + text;
    // Ranks never end in a zero.
    return `${beginning}${text}V`;
  });
}

/** @param isOpen true if any suffix of the result must sort before `after`, so `after` must not begin with it */
function beginningBetween(before: string | null, after: string | null, isOpen: boolean): string {
  if (before === null) return after === null ? 'a0' : rankBefore(after, isOpen);
  const whole = wholeOf(before);
  const fraction = before.slice(whole.length);
  if (after !== null && wholeOf(after) === whole)
    return whole + fractionBetween(fraction, after.slice(whole.length), isOpen);
  const next = stepped(whole, 1);
  const isFree = next !== null && (after === null || (next < after && !(isOpen && after.startsWith(next))));
  return isFree ? next : whole + fractionBetween(fraction, null, isOpen);
}

function rankBefore(after: string, isOpen: boolean): string {
  const whole = wholeOf(after);
  if (whole < after && !isOpen) return whole;
  return stepped(whole, -1) ?? whole + fractionBetween('', after.slice(whole.length), isOpen);
}

function wholeOf(rank: string): string {
  const head = rank.charCodeAt(0);
  const isPositive = head >= 97;
  return rank.slice(0, isPositive ? head - 97 + 2 : 90 - head + 2);
}

/** Returns the next or previous integer; null beyond 26 digits. */
function stepped(whole: string, by: 1 | -1): string | null {
  const [full, empty] = by === 1 ? [most, least] : [least, most];
  const digitsLeft = whole.slice(1).replace(new RegExp(`${full}*$`), '');
  const carried = empty.repeat(whole.length - 1 - digitsLeft.length);
  if (digitsLeft !== '')
    return whole[0] + digitsLeft.slice(0, -1) + digits[digits.indexOf(digitsLeft.at(-1)!) + by]! + carried;
  return steppedHead(whole[0]!, carried, by);
}

/** Carries over all digits: the number gets one more digit, or one fewer toward zero. */
function steppedHead(head: string, carried: string, by: 1 | -1): string | null {
  if (head === 'Z' && by === 1) return 'a0';
  if (head === 'a' && by === -1) return `Z${most}`;
  const next = String.fromCharCode(head.charCodeAt(0) + by);
  if (!/[A-Za-z]/.test(next)) return null;
  const grows = next >= 'a' === (by === 1);
  return next + (grows ? carried + (by === 1 ? least : most) : carried.slice(1));
}

/** Returns a fraction between two others; null is one. Neither may end in a zero, because nothing would sort before it. */
function fractionBetween(before: string, after: string | null, isOpen: boolean): string {
  let shared = 0;
  if (after !== null) while ((before[shared] ?? least) === after[shared]) shared += 1;
  if (shared > 0)
    return after!.slice(0, shared) + fractionBetween(before.slice(shared), after!.slice(shared), isOpen);
  const low = before === '' ? 0 : digits.indexOf(before[0]!);
  const high = after === null ? digits.length : digits.indexOf(after[0]!);
  if (high - low > 1) return digits[Math.round((low + high) / 2)]!;
  if (after !== null && after.length > 1 && !isOpen) return after[0]!;
  return digits[low]! + fractionBetween(before.slice(1), null, isOpen);
}
