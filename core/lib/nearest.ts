// The known name that somebody probably meant who gave another one.
import { distance } from 'fastest-levenshtein';

/** Longer names are not compared, because the time that takes grows with the square of their length. */
const lengthMax = 100;

/** @returns the closest of `known`, in any case; undefined where none is close enough to be what was meant */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  if (given.length > lengthMax) return undefined;
  const wanted = given.toLowerCase();
  let best: string | undefined;
  let least = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const name of known) {
    if (name.length > lengthMax) continue;
    const apart = distance(wanted, name.toLowerCase());
    if (apart < least && apart < name.length) [best, least] = [name, apart];
  }
  return best;
}

/** " Did you mean x?", to stand after a sentence; empty where nothing is near. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const near = nearest(given, known);
  return near === undefined ? '' : ` Did you mean ${near}?`;
}

/** As `didYouMean`, with up to three names, the nearest first. */
export function didYouMeanAny(given: string, known: Iterable<string>): string {
  const left = new Set(known);
  const near: string[] = [];
  for (let next = nearest(given, left); next !== undefined && near.length < 3; next = nearest(given, left)) {
    near.push(next);
    left.delete(next);
  }
  const last = near.pop();
  if (last === undefined) return '';
  return ` Did you mean ${near.length === 0 ? last : `${near.join(', ')} or ${last}`}?`;
}
