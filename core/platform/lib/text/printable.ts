// Escapes untrusted text for terminals and shells, and normalizes titles and names. Such text may contain
// escape sequences that move the cursor, set the clipboard or send input, and bidirectional marks that
// reverse a line (Unicode TR 36 §3.3).
import type { TSchema } from 'typebox';
import { unseen } from '../display-name.ts';
import { invalidField } from '../errors/errors.ts';
import { oneLine } from '../schema.ts';

/** C0, DEL and C1 controls, bidirectional marks, and separators that some programs treat as line ends. */
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const controlsButLineEnds =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const controlsButLayout =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Returns one line with control characters escaped as in JSON: ␛ is `\u001b`, a line end `\n`. */
export function printable(text: string): string {
  return text.replace(controls, escaped);
}

/** Escapes multi-line output of Tatami; line ends pass. */
export function printableLines(text: string): string {
  return text.replace(controlsButLineEnds, escaped);
}

/** Escapes untrusted text that is stored, such as logs and errors; line ends and tabs pass. */
export function plainText(text: string): string {
  return text.replace(controlsButLayout, unicode);
}

/** Returns a copy of plain data with every string and property name `printable`. */
export function printableCopy<T>(value: T): T {
  const copy = (part: unknown): unknown => {
    if (typeof part === 'string') return printable(part);
    if (Array.isArray(part)) return part.map(copy);
    if (part === null || typeof part !== 'object') return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [printable(key), copy(inner)]));
  };
  return copy(value) as T;
}

/** Returns JSON that is safe for a terminal and parses to the same value. */
export function printableJson(value: unknown): string {
  // After JSON.stringify, remaining controls are inside strings.
  return JSON.stringify(value).replace(controls, unicode);
}

/** Quotes a word for a shell if necessary. */
export function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function escaped(char: string): string {
  return char === '\n' ? '\\n' : char === '\t' ? '\\t' : char === '\r' ? '\\r' : unicode(char);
}

function unicode(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const lineBreaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
const allUnseen = new RegExp(unseen.source, 'gu');
/** Fast path for most titles. */
const plain = /^[ -~]*$/;
/** Tags (U+E0020 to U+E007F) after a black flag form the flags of England, Scotland and Wales, which are visible. */
const flag = /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,8}\u{e007f}/gu;

/**
 * Replaces line breaks and tabs by a space, and removes invisible characters and surrounding white space:
 * lists, mail, terminals and logs show titles and names on one line, and bidirectional marks would make one
 * title look like another.
 */
export function inOneLine(text: string): string {
  if (plain.test(text)) return text.trim();
  const cleaned = (part: string): string => part.replaceAll(allUnseen, '');
  const line = text.replaceAll(lineBreaks, ' ');
  let [result, after] = ['', 0];
  for (const { 0: match, index } of line.matchAll(flag)) {
    result += cleaned(line.slice(after, index)) + match;
    after = index + match.length;
  }
  return (result + cleaned(line.slice(after))).trim();
}

/** Paths of one-line texts in a value. */
interface LinePaths {
  readonly isLine: boolean;
  readonly below: readonly (readonly [name: string, places: LinePaths])[];
  readonly items: LinePaths | null;
  /** True for a list with unique items. */
  readonly isSet: boolean;
}

interface SchemaParts {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
  readonly uniqueItems?: boolean;
}

/**
 * Returns a function that normalizes the one-line texts of a valid value in place, for every write; null if
 * the schema has none. The function throws ApiError validation_failed for a text without visible characters.
 */
export function normalizerOf(schema: TSchema): ((value: unknown) => void) | null {
  const linePaths = linePathsOf(schema);
  return linePaths && ((value) => void normalized(linePaths, value, ''));
}

function linePathsOf(schema: TSchema): LinePaths | null {
  const { properties = {}, items, anyOf = [], uniqueItems: isSet = false } = schema as SchemaParts;
  const below = Object.entries(properties).flatMap(([name, property]): [string, LinePaths][] => {
    const linePaths = linePathsOf(property);
    return linePaths ? [[name, linePaths]] : [];
  });
  const inItems = items ? linePathsOf(items) : null;
  const own = { isLine: oneLine in schema, below, items: inItems, isSet };
  // A nullable value has a null branch; no union has branches that differ otherwise.
  const all = [own, ...anyOf.flatMap((branch) => linePathsOf(branch) ?? [])].filter(hasAny);
  return all.length === 0 ? null : all.reduce(both);
}

function hasAny({ isLine, below, items }: LinePaths): boolean {
  return isLine || below.length > 0 || items !== null;
}

function both(one: LinePaths, other: LinePaths): LinePaths {
  return {
    isLine: one.isLine || other.isLine,
    below: [...one.below, ...other.below],
    items: one.items ?? other.items,
    isSet: one.isSet || other.isSet,
  };
}

function normalized(linePaths: LinePaths, value: unknown, path: string): unknown {
  if (typeof value === 'string') return linePaths.isLine ? seenLine(value, path) : value;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return normalizedList(linePaths, value, path);
  const parts = value as Record<string, unknown>;
  for (const [name, below] of linePaths.below)
    if (Object.hasOwn(parts, name))
      parts[name] = normalized(below, parts[name], path === '' ? name : `${path}.${name}`);
  return value;
}

/** @throws ApiError validation_failed for items that normalization makes equal */
function normalizedList({ items, isSet }: LinePaths, list: unknown[], path: string): unknown[] {
  if (!items) return list;
  for (const [at, item] of list.entries()) list[at] = normalized(items, item, `${path}.${at}`);
  if (isSet && new Set(list).size < list.length)
    throw invalidField(path, 'conflict', 'List each value once.');
  return list;
}

/** @throws ApiError validation_failed */
function seenLine(text: string, path: string): string {
  const line = inOneLine(text);
  if (line !== '') return line;
  throw invalidField(path, 'invalid_format', 'Give visible text: letters, digits, signs or emoji.');
}
