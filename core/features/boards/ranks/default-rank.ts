// Default position of unmoved cards: by creation, newest first. The rank follows from the issue alone, so
// nothing is stored, and a card can be placed between any two cards. A rank also converts back to a creation
// time and id, for a range query on an index of issues.
import { base62, fromBase62 } from '../../../platform/lib/rank.ts';

/** Alphabet of ids, in byte order like the digits of ranks. */
const letters = '0123456789abcdefghjkmnpqrstvwxyz';
/** Head of an eight-digit integer in a rank, enough for several thousand years in milliseconds. */
const head = 'h';
const width = 8;
const count = 62 ** width;
/** Middle of the range, so that times before 1970 have a rank as well. */
const newest = count / 2 - 1;
const idPrefix = 'iss_';
const idChars = 26;

/** Ranks must not end in a zero. */
const ending = 'V';

export function defaultRank(createdAt: number, id: string): string {
  return `${head}${base62(newest - createdAt, width)}${[...id.slice(idPrefix.length)].map(mirrored).join('')}${ending}`;
}

/**
 * A position in creation order. Issues created later, or at the same time with a greater id, come before it.
 */
interface CreationPosition {
  readonly at: number;
  /** Bound for ids; may be shorter or longer than an id. */
  readonly id: string;
}

/**
 * Converts a rank to a position in creation order: cards after the rank were created before the position, and
 * cards before it after.
 */
export function creationPositionOf(rank: string): CreationPosition {
  if (rank < head) return { at: Number.MAX_SAFE_INTEGER, id: '' };
  if (rank[0] !== head) return { at: Number.MIN_SAFE_INTEGER, id: '' };
  return { at: newest - fromBase62(rank.slice(1, width + 1)), id: idPrefix + idAt(rank.slice(width + 1)) };
}

/** Greater than every character of ids. */
const above = '~';

function idAt(fraction: string): string {
  let id = '';
  for (const digit of fraction.slice(0, idChars)) {
    if (letters.includes(digit)) id += mirrored(digit);
    // The digit falls between two letters: cards after the rank have a smaller letter here, because the
    // letters are mirrored.
    else return justBelow(id + mirrored([...letters].findLast((letter) => letter < digit)!));
  }
  const rest = fraction.slice(idChars);
  if (fraction.length < idChars || rest < ending) return id + above;
  return rest === ending ? id : justBelow(id);
}

/** Returns a bound just below an id or id prefix: no id is between the two. */
function justBelow(id: string): string {
  return id.slice(0, -1) + String.fromCharCode(id.charCodeAt(id.length - 1) - 1) + above;
}

function mirrored(letter: string): string {
  return letters[letters.length - 1 - letters.indexOf(letter)]!;
}
