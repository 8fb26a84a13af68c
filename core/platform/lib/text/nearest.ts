// Suggests the known name closest to a misspelled one.
import { distance } from 'fastest-levenshtein';

/** Longer names are not compared, because the cost is quadratic in their length. */
const lengthMax = 100;
/** Letters per allowed typo. Names of three to five letters may have one: `not` does not match `nope`. */
const lettersPerTypo = 3;

/** @returns the closest of `known`, ignoring case; undefined if none is close enough */
export function nearest(input: string, known: Iterable<string>): string | undefined {
  if (input.length > lengthMax) return undefined;
  const wanted = input.toLowerCase();
  let best: string | undefined;
  let least = Infinity;
  for (const name of known) {
    if (name.length > lengthMax) continue;
    const apart = typosBetween(wanted, name.toLowerCase());
    const allowed = Math.floor(Math.max(wanted.length, name.length) / lettersPerTypo);
    if (apart < least && apart <= allowed) [best, least] = [name, apart];
  }
  return best;
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
