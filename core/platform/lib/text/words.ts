// Counts and lists as parts of sentences, spellings of names, and suggestions for misspelled names.
import { distance } from 'fastest-levenshtein';

/** Formats a count with its noun: `1 team`, `2 teams`. @param what singular noun whose plural adds an s */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Joins words into a phrase: `a, b and c`; `nothing` if empty. */
export function listed(words: readonly string[], last: 'and' | 'or'): string {
  if (words.length === 0) return 'nothing';
  if (words.length === 1) return words[0]!;
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

/** `stateChanged` → `StateChanged` */
export function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** `list-on-issue` → `listOnIssue` */
export function camel(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `createdAt` → `created_at`, the column that stores the value. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the flag of a setting: `dataDir` → `--data-dir`. */
export function flagOf(setting: string): string {
  return `--${setting.replaceAll(/[A-Z]/g, (upper) => `-${upper.toLowerCase()}`)}`;
}

// oxlint-disable-next-line no-control-regex
const isAscii = /^[\0-\x7f]*$/;

/** Folds the letters of all scripts, in composed form (NFC); for names. */
export function foldName(text: string): string {
  const lower = text.toLowerCase();
  return isAscii.test(lower) ? lower : text.normalize('NFC').toLowerCase();
}

/** Folds ASCII letters only, like SQLite's `lower()`, so that lists and subscriptions match equally. */
export function foldCase(text: string): string {
  // For ASCII text, toLowerCase gives the same result many times faster.
  if (isAscii.test(text)) return text.toLowerCase();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x41 && byte <= 0x5a) bytes[at] = byte + 0x20;
  }
  return bytes.toString();
}

/** Longer names are not compared, because the cost is quadratic in their length. */
const lengthMax = 100;
/** Letters per allowed typo. Names of three to five letters may have one: `not` does not match `nope`. */
const lettersPerTypo = 3;

/** Minimum length of a beginning that stands for a whole name, such as `prio` for `priority`. */
const beginningMin = 3;

/** @returns the closest of `known`, or the first that begins with the input, ignoring case; undefined if none is close enough */
export function nearest(input: string, known: Iterable<string>): string | undefined {
  if (input.length > lengthMax) return undefined;
  const wanted = input.toLowerCase();
  let best: string | undefined;
  let least = Infinity;
  let longer: string | undefined;
  for (const name of known) {
    if (name.length > lengthMax) continue;
    if (wanted.length >= beginningMin && name.toLowerCase().startsWith(wanted)) longer ??= name;
    const apart = typosBetween(wanted, name.toLowerCase());
    const allowed = Math.floor(Math.max(wanted.length, name.length) / lettersPerTypo);
    if (apart < least && apart <= allowed) [best, least] = [name, apart];
  }
  return best ?? longer;
}

/** Counts two swapped neighbors as one typo, because that typo is the most frequent. */
function typosBetween(one: string, other: string): number {
  const apart = distance(one, other);
  if (apart !== 2 || one.length !== other.length) return apart;
  let at = 0;
  while (one[at] === other[at]) at++;
  return one[at] === other[at + 1] && one[at + 1] === other[at] ? 1 : apart;
}

/** Returns " Did you mean x?" to append to a sentence; empty if no name is close. */
export function didYouMean(input: string, known: Iterable<string>): string {
  const near = nearest(input, known);
  return near === undefined ? '' : ` Did you mean ${near}?`;
}

/** Like `didYouMean`, with up to three names, closest first. */
export function didYouMeanAny(input: string, known: Iterable<string>): string {
  const left = new Set(known);
  const near: string[] = [];
  for (let next = nearest(input, left); next !== undefined && near.length < 3; next = nearest(input, left)) {
    near.push(next);
    left.delete(next);
  }
  const last = near.pop();
  if (last === undefined) return '';
  return ` Did you mean ${near.length === 0 ? last : `${near.join(', ')} or ${last}`}?`;
}
