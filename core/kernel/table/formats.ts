// Checks of single values of an exported row. A check returns the expected form of the value, as the end of a
// sentence; null if the value is valid.
import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { digestIn } from '../../platform/store/files/blobs.ts';
import { idPattern } from '../../platform/lib/schema.ts';
import { isRank } from '../../platform/lib/rank.ts';
import { isDay } from '../../platform/lib/time/time.ts';

export type Format = (value: unknown) => string | null;

/** Length limit of texts for which no other limit is defined. */
const charsMax = 1024 * 1024;
/** Maximum nesting, because JSON is read recursively. */
const depthMax = 64;
/** The last moment that JavaScript can express; rows use it for "never". */
const lastMs = 8_640_000_000_000_000;
/** The year 0, the earliest time that `readTime` accepts. */
const firstMs = -62_167_219_200_000;

const matching =
  (what: string, isRight: (value: unknown) => boolean): Format =>
  (value) =>
    isRight(value) ? null : what;

/** Returns true for text that SQLite and UTF-8 represent unchanged. */
const isText = (value: unknown, max = charsMax): value is string =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0') && isWithin(value, max);

/** Counts characters as contracts and TypeBox do; the count never exceeds the number of code units. */
const isWithin = (text: string, maxLength: number): boolean =>
  text.length <= maxLength || (text.length <= charsMax && Check({ type: 'string', maxLength }, text));

export const text = (max = charsMax): Format =>
  matching(`must be text of at most ${max} characters, without NUL and lone surrogates`, (value) =>
    isText(value, max),
  );

export function pattern(source: string, what = `must match ${source}`): Format {
  const wanted = new RegExp(source);
  return matching(what, (value) => isText(value) && wanted.test(value));
}

/** A malformed rank would make later moves fail. */
export const rank = (max: number): Format =>
  matching(
    `must be a rank of at most ${max} characters, as created by Tatami`,
    (value) => isText(value, max) && isRank(value),
  );

/** @param prefixes prefixes of ids; null for UUIDs */
export function id(...prefixes: readonly (string | null)[]): Format {
  const names = prefixes.map((prefix) => (prefix === null ? 'a UUID in lower case' : `an id ${prefix}_…`));
  return pattern(
    prefixes.map((prefix) => idPattern(prefix)).join('|'),
    `must be ${names.join(' or ')}, as created by Tatami`,
  );
}

export const oneOf = (...words: readonly (string | number)[]): Format =>
  matching(`must be one of ${words.join(', ')}`, (value) => (words as readonly unknown[]).includes(value));

export const integer = (min = 0, max = Number.MAX_SAFE_INTEGER): Format =>
  matching(
    `must be a whole number from ${min} to ${max}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
  );

export const real: Format = matching('must be a number', (value) => Number.isFinite(value));
export const flag: Format = oneOf(0, 1);
export const moment: Format = matching(
  'must be a time in milliseconds since 1970',
  (value) => integer(firstMs, lastMs)(value) === null,
);
export const day: Format = matching(
  'must be a day of the calendar, such as 2026-05-01',
  (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && isDay(value),
);
export const digest: Format = matching(
  'must be a SHA-256 as 64 hexadecimal digits in lower case',
  (value) => typeof value === 'string' && digestIn(value) !== null,
);

/**
 * Accepts only JSON as `JSON.stringify` writes it, so that all parsers read the same value.
 * @param schemas the value must match one of them
 */
export function json(...schemas: readonly TSchema[]): Format {
  return (value) => {
    const parsed = parse(value);
    if (parsed === undefined) return `must be JSON in one line, at most ${depthMax} levels deep`;
    if (JSON.stringify(parsed.value) !== value)
      return 'must be JSON without white space between its parts and without a name that occurs twice';
    return schemas.length === 0 || schemas.some((schema) => Check(schema, parsed.value))
      ? null
      : 'must be JSON that matches the schema of this column';
  };
}

/** Accepts any JSON object, in any notation. */
export const object: Format = (value) => {
  const parsed = parse(value)?.value;
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    ? null
    : `must be a JSON object, at most ${depthMax} levels deep`;
};

function parse(text: unknown): { readonly value: unknown } | undefined {
  if (!isText(text, 16 * charsMax) || depthOf(text) > depthMax) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return /\\u(?:d[89a-f]|0000)/i.test(text) && !isWhole(value) ? undefined : { value };
  } catch {
    return undefined;
  }
}

/** Returns the nesting depth, counted without recursion because the text is untrusted. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isQuoted && code === 0x5c) at++;
    else if (code === 0x22) isQuoted = !isQuoted;
    else if (!isQuoted && (code === 0x7b || code === 0x5b)) deepest = Math.max(deepest, ++depth);
    else if (!isQuoted && (code === 0x7d || code === 0x5d)) depth--;
  }
  return deepest;
}

/** Returns true if every text in a value is well-formed and without NUL, including property names. */
function isWhole(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (value === null || typeof value !== 'object') return true;
  return Object.entries(value).every(([name, part]) => isWhole(name) && isWhole(part));
}
