// Ranks: what is put in order by hand keeps its place as a text, so that moving one thing writes one row. Texts compare by their
// bytes, as SQLite does. A rank is a whole number and a fraction in base 62: the first letter says how many digits the whole number has
// (`a` one, `b` two, …; `Z` one below zero, `Y` two, …), so that adding at either end makes ranks no longer than counting does.
// The scheme is David Greenspan's ("Implementing Fractional Indexing").

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const least = digits[0]!;
const most = digits.at(-1)!;

/**
 * A longer rank is shortened, together with those that share its beginning (`ranksBelow`): some 200 moves into the same gap lead there.
 */
export const rankLengthMax = 64;

/**
 * A rank between two others; null is the end of the order on that side. The same gap has the same rank again, unless a tail makes it
 * another one.
 * @param tail characters that end the rank, the last one no zero
 * @throws RangeError where `before` does not come before `after`
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

/** As many ranks below a beginning, as far from each other as their length allows. All others keep their place among them. */
export function ranksBelow(beginning: string, count: number): string[] {
  const width = Math.ceil(Math.log(count + 1) / Math.log(digits.length)) + 1;
  const step = Math.floor(digits.length ** width / (count + 1));
  return Array.from({ length: count }, (_, index) => {
    let text = '';
    for (let rest = (index + 1) * step; text.length < width; rest = Math.floor(rest / digits.length))
      text = digits[rest % digits.length]! + text;
    // Ranks end in no zero.
    return `${beginning}${text}V`;
  });
}

/** @param isOpen whatever is added to the result is still before `after`: `after` does not begin with it */
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

/** The next whole number or the one before; null past the last of 26 digits. */
function stepped(whole: string, by: 1 | -1): string | null {
  const [full, empty] = by === 1 ? [most, least] : [least, most];
  const kept = whole.slice(1).replace(new RegExp(`${full}*$`), '');
  const carried = empty.repeat(whole.length - 1 - kept.length);
  if (kept !== '') return whole[0] + kept.slice(0, -1) + digits[digits.indexOf(kept.at(-1)!) + by]! + carried;
  return steppedHead(whole[0]!, carried, by);
}

/** All digits were carried over: the number gets a digit more, or one fewer on its way to zero. */
function steppedHead(head: string, carried: string, by: 1 | -1): string | null {
  if (head === 'Z' && by === 1) return 'a0';
  if (head === 'a' && by === -1) return `Z${most}`;
  const next = String.fromCharCode(head.charCodeAt(0) + by);
  if (!/[A-Za-z]/.test(next)) return null;
  const grows = next >= 'a' === (by === 1);
  return next + (grows ? carried + (by === 1 ? least : most) : carried.slice(1));
}

/** Digits after the point that lie between two such; null is one. Neither ends in a zero, or nothing would go before it. */
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
