// Where a card stands that nobody has moved: by its creation, the newest first. Its place is a rank like those that moves make, and
// follows from the issue alone, so that nothing is stored for it, and a card can be put between any two. A rank is read back into the
// moment and id that it stands for, by which an index of issues is sought.

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Of ids; in the order of their bytes, as the digits are. */
const letters = '0123456789abcdefghjkmnpqrstvwxyz';
/** The head of a whole number of eight digits (core/lib/rank.ts), which milliseconds of some thousand years take. */
const head = 'h';
const width = 8;
const count = digits.length ** width;
/** Times before 1970 are below the middle. */
const newest = count / 2 - 1;
const idPrefix = 'iss_';
const idChars = 26;

/** Ends in no zero, as ranks must not. */
const ending = 'V';

export function defaultRank(createdAt: number, id: string): string {
  return `${head}${wholeOf(newest - createdAt)}${[...id.slice(idPrefix.length)].map(mirrored).join('')}${ending}`;
}

/** A place in the order of creation: who was made later, or at the same time with a greater id, stands before it. */
export interface Made {
  readonly at: number;
  /** May be more or less than an id, and is compared as one. */
  readonly id: string;
}

/** The place in the order of creation that a rank is at: cards behind it were made earlier than that, cards before it later. */
export function madeAt(rank: string): Made {
  if (rank < head) return { at: Number.MAX_SAFE_INTEGER, id: '' };
  if (rank[0] !== head) return { at: Number.MIN_SAFE_INTEGER, id: '' };
  return { at: newest - numberOf(rank.slice(1, width + 1)), id: idPrefix + idAt(rank.slice(width + 1)) };
}

/** Past every character of ids. */
const above = '~';

function idAt(fraction: string): string {
  let id = '';
  for (const digit of fraction.slice(0, idChars)) {
    if (letters.includes(digit)) id += mirrored(digit);
    // Between two letters: what is behind has the next one or a later one, so an id with a lesser letter here.
    else return justBelow(id + mirrored([...letters].findLast((letter) => letter < digit)!));
  }
  const rest = fraction.slice(idChars);
  if (fraction.length < idChars || rest < ending) return id + above;
  return rest === ending ? id : justBelow(id);
}

/** Less than an id or its beginning, and no less than whatever is less. */
function justBelow(id: string): string {
  return id.slice(0, -1) + String.fromCharCode(id.charCodeAt(id.length - 1) - 1) + above;
}

function mirrored(letter: string): string {
  return letters[letters.length - 1 - letters.indexOf(letter)]!;
}

function wholeOf(value: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest = Math.floor(rest / digits.length))
    text = digits[rest % digits.length]! + text;
  return text;
}

function numberOf(text: string): number {
  return [...text].reduce((value, digit) => value * digits.length + digits.indexOf(digit), 0);
}
