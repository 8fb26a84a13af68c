// Strict JSON for request bodies: what `JSON.parse` would accept but no honest client sends is refused, because two
// parsers that disagree on it are how checks get bypassed (RFC 8259 §4 on duplicate names, §8.2 on lone surrogates).
import { ApiError } from './errors.ts';
import { findJsonFault, placeIn } from './json-fault.ts';

export const jsonDepthMax = 64;
/** So many objects, lists and properties; plain values in a list are bounded by the length of the text alone. */
export const jsonPartsMax = 20_000;

/** @throws ApiError malformed_request on bad syntax, depth over 64, too many parts, duplicate or `__proto__` names, numbers out of range, lone surrogates, U+0000. */
export function parseJson(text: string, partsMax: number = jsonPartsMax): unknown {
  // The scan comes first, because parsing can cost a hundred times the length of the text in objects.
  scan(text, partsMax);
  try {
    return JSON.parse(text);
  } catch {
    throw notJson(text);
  }
}

/** Names the place and what JSON allows there, and never what was sent: it may be a secret. */
function notJson(text: string): ApiError {
  const fault = findJsonFault(text);
  const where = fault ? `: expected ${fault.expected} at ${placeIn(text, fault.at)}.` : '.';
  return malformed(`The body is not valid JSON${where}`);
}

/** A list or object that is open, with the names it has had so far. Most have one or none, which need no set. */
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

/** How far the scan of a text has come. */
interface Walk {
  readonly text: string;
  readonly partsMax: number;
  /** Finds where the string ends that begins at a place. */
  readonly skip: ReturnType<typeof stringSkipper>;
  readonly open: Open[];
  parts: number;
  /** Whether a string would be the name of a property, in an object. */
  expectsName: boolean;
}

/** Looks through a text that may not be valid JSON: `JSON.parse` finds that out afterwards. */
function scan(text: string, partsMax: number): void {
  const walk: Walk = { text, partsMax, skip: stringSkipper(text), open: [], parts: 0, expectsName: false };
  let at = 0;
  try {
    for (; at < text.length; at++) at = passToken(walk, at);
  } catch (error) {
    if (error === brokenString) throw notJson(text);
    if (!(error instanceof ApiError)) throw error;
    throw malformed(`${error.message} See ${placeIn(text, at)}.`);
  }
}

/** Stands for a string that has no end or a wrong escape. */
const brokenString = new Error('A string is broken.');

/** @returns the place of the token's last character */
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

/** @returns the place of the string's last character */
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
  if (walk.open.length > jsonDepthMax)
    throw malformed(`The body is nested deeper than ${jsonDepthMax} levels.`);
}

function countPart(walk: Walk): void {
  if (++walk.parts > walk.partsMax)
    throw malformed(
      `The body holds more than ${walk.partsMax} objects, lists and properties. Send less at once.`,
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
    throw malformed(`The number ${digits.slice(0, 40)} is out of range.`);
  return start + digits.length - 1;
}

function note(object: Open, name: string): void {
  if (name === '__proto__') throw malformed('A property may not be named __proto__.');
  if (object.first === name || object.others?.has(name))
    throw malformed(`The property ${JSON.stringify(name.slice(0, 80))} appears twice.`);
  if (object.first === null) object.first = name;
  else (object.others ??= new Set()).add(name);
}

/** Finds where strings end by the next quote and the next backslash, each of which is looked for once. */
function stringSkipper(
  text: string,
): (start: number) => { end: number; isEscaped: boolean; isCoded: boolean } {
  const places = { '"': -1, '\\': -1, '\\u': -1 };
  const next = (mark: keyof typeof places, from: number): number => {
    if (places[mark] < from) {
      const at = text.indexOf(mark, from);
      places[mark] = at < 0 ? Infinity : at;
    }
    return places[mark];
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
  if (!content.isWellFormed()) throw malformed('A text holds half of a surrogate pair.');
  if (content.includes('\0')) throw malformed('A text holds the character U+0000.');
  return content;
}

export function malformed(message: string): ApiError {
  return new ApiError('malformed_request', message);
}
