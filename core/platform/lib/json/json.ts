// Strict JSON for request bodies: refuses texts that `JSON.parse` accepts but parsers interpret differently, because such
// differences are used to bypass checks (RFC 8259 §4 on duplicate names, §8.2 on lone surrogates).
import { ApiError } from '../errors/errors.ts';
import { findJsonFault, positionText } from './json-fault.ts';

export const jsonDepthMax = 64;
/** Maximum number of objects, lists and properties; scalar values in lists are bounded only by the length of the text. */
export const jsonPartsMax = 20_000;

/**
 * @throws ApiError malformed_request on bad syntax, depth over 64, too many parts, duplicate or `__proto__`
 * names, numbers out of range, lone surrogates, U+0000
 */
export function parseJson(text: string, partsMax: number = jsonPartsMax): unknown {
  // The scan runs first, because parsing can allocate a hundred times the length of the text.
  scan(text, partsMax);
  try {
    return JSON.parse(text);
  } catch {
    throw notJson(text);
  }
}

/** Returns an error with the position of the fault but without the input, which may contain a secret. */
function notJson(text: string): ApiError {
  if (text.trim() === '') return malformed(malformedTexts.missing);
  const fault = findJsonFault(text);
  const where = fault
    ? `: expected ${fault.expected} at ${positionText(text, fault.at)}.`
    : '. Correct its syntax.';
  return malformed(`The body is not valid JSON${where}`);
}

/** An open list or object, with the names read so far. Most have at most one name, which needs no set. */
interface Open {
  readonly isObject: boolean;
  first: string | null;
  others: Set<string> | null;
}

const codes = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  zero: 0x30,
  nine: 0x39,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

/** State of the scan. */
interface Walk {
  readonly text: string;
  readonly partsMax: number;
  /** Returns the end of the string that begins at an index. */
  readonly skip: ReturnType<typeof stringSkipper>;
  readonly open: Open[];
  parts: number;
  /** True if a string would be a property name. */
  expectsName: boolean;
}

/** Scans a text that may be invalid JSON, which `JSON.parse` detects later. */
function scan(text: string, partsMax: number): void {
  const walk: Walk = { text, partsMax, skip: stringSkipper(text), open: [], parts: 0, expectsName: false };
  let at = 0;
  try {
    for (; at < text.length; at++) at = passToken(walk, at);
  } catch (error) {
    if (error === brokenString) throw notJson(text);
    if (!(error instanceof ApiError)) throw error;
    throw malformed(`${error.message} See ${positionText(text, at)}.`);
  }
}

/** Thrown for a string without end or with a wrong escape. */
const brokenString = new Error('Invalid string.');

/** @returns the index of the token's last character */
function passToken(walk: Walk, at: number): number {
  const code = walk.text.charCodeAt(at);
  switch (code) {
    case codes.quote:
      return passString(walk, at);
    case codes.openBrace:
    case codes.openBracket:
      enter(walk, code === codes.openBrace);
      return at;
    case codes.closeBrace:
    case codes.closeBracket:
      walk.open.pop();
      walk.expectsName = false;
      return at;
    case codes.comma:
      walk.expectsName = walk.open.at(-1)?.isObject ?? false;
      return at;
    default:
      return beginsNumber(code) ? passNumber(walk.text, at) : at;
  }
}

/** @returns the index of the string's last character */
function passString(walk: Walk, start: number): number {
  const { end, isEscaped, isCoded } = walk.skip(start);
  const inner = walk.open.at(-1);
  if (walk.expectsName && inner?.isObject) {
    countPart(walk);
    note(inner, isEscaped ? decoded(walk.text.slice(start, end)) : walk.text.slice(start + 1, end - 1));
    walk.expectsName = false;
  } else if (isCoded) decoded(walk.text.slice(start, end));
  return end - 1;
}

function enter(walk: Walk, isObject: boolean): void {
  countPart(walk);
  walk.open.push({ isObject, first: null, others: null });
  walk.expectsName = isObject;
  if (walk.open.length > jsonDepthMax) throw malformed(malformedTexts.nested);
}

function countPart(walk: Walk): void {
  if (++walk.parts > walk.partsMax)
    throw malformed(
      `The body has more than ${walk.partsMax} objects, lists and properties. Send less at once.`,
    );
}

function beginsNumber(code: number): boolean {
  return code === codes.minus || (code >= codes.zero && code <= codes.nine);
}

function passNumber(text: string, start: number): number {
  const number = /[-+.\deE]+/y;
  number.lastIndex = start;
  const digits = number.exec(text)![0];
  if (Math.abs(Number(digits)) === Infinity)
    throw malformed(`The number ${digits.slice(0, 40)} is out of range. Send a finite number.`);
  return start + digits.length - 1;
}

function note(object: Open, name: string): void {
  if (name === '__proto__') throw malformed(malformedTexts.proto);
  if (object.first === name || object.others?.has(name))
    throw malformed(`The property ${JSON.stringify(name.slice(0, 80))} appears twice.`);
  if (object.first === null) object.first = name;
  else (object.others ??= new Set()).add(name);
}

/** Finds the ends of strings. Cached positions of quotes and backslashes make the search linear. */
function stringSkipper(
  text: string,
): (start: number) => { end: number; isEscaped: boolean; isCoded: boolean } {
  const positions = { '"': -1, '\\': -1, '\\u': -1 };
  const next = (mark: keyof typeof positions, from: number): number => {
    if (positions[mark] < from) {
      const at = text.indexOf(mark, from);
      positions[mark] = at < 0 ? Infinity : at;
    }
    return positions[mark];
  };
  return (start) => {
    for (let at = start + 1, isEscaped = false; ; isEscaped = true) {
      const quote = next('"', at);
      const backslash = next('\\', at);
      if (quote === Infinity) throw brokenString;
      if (quote < backslash)
        return { end: quote + 1, isEscaped, isCoded: isEscaped && next('\\u', start) < quote };
      at = backslash + 2;
    }
  };
}

function decoded(raw: string): string {
  let content: string;
  try {
    content = JSON.parse(raw) as string;
  } catch {
    throw brokenString;
  }
  if (!content.isWellFormed()) throw malformed(malformedTexts.surrogate);
  if (content.includes('\0')) throw malformed(malformedTexts.nullCharacter);
  return content;
}

/** Errors that JSON texts and values of in-process callers have in common. */
export const malformedTexts = {
  missing: 'The body is missing. Send a JSON value.',
  nested: `The body is nested deeper than ${jsonDepthMax} levels. Send a flatter structure.`,
  proto: 'A property may not be named __proto__. Rename the property.',
  surrogate: 'A string contains an unpaired surrogate. Send well-formed Unicode.',
  nullCharacter: 'A string contains the character U+0000. Remove the character.',
} as const;

export function malformed(message: string): ApiError {
  return new ApiError('malformed_request', message);
}
