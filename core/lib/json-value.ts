// JSON as values, for callers inside the process: what they give is copied within the limits that hold for texts, what they get
// is a copy of what JSON would show. So neither side can change later what the other one keeps.
import { ApiError } from './errors.ts';
import { jsonDepthMax, malformed } from './json.ts';

export interface ValueLimits {
  readonly bytesMax: number;
  /** Objects, lists and properties. */
  readonly partsMax: number;
}

export function tooLarge(bytesMax: number): ApiError {
  return new ApiError('payload_too_large', `The body is larger than ${bytesMax} bytes.`);
}

/** What is left of the limits while a value is copied. */
interface Copying {
  readonly limits: ValueLimits;
  bytes: number;
  parts: number;
}

/**
 * A copy of what a caller gives as the value of a body, and its length as JSON without escapes. Properties that are undefined
 * are left out.
 * @throws ApiError payload_too_large; malformed_request for what `parseJson` refuses, and for what JSON has no form for
 */
export function takeJson(value: unknown, limits: ValueLimits): { value: unknown; bytes: number } {
  const copying: Copying = { limits, bytes: 0, parts: 0 };
  return { value: taken(copying, value, 0), bytes: copying.bytes };
}

function taken(copying: Copying, value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      requireText(copying, value);
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw malformed(`The number ${value} is out of range.`);
      count(copying, String(value).length);
      return value;
    case 'boolean':
      count(copying, value ? 4 : 5);
      return value;
    case 'object':
      if (value === null) {
        count(copying, 4);
        return null;
      }
      return takenWhole(copying, value, depth + 1);
    default:
      throw malformed(`A body cannot hold a value of type ${typeof value}.`);
  }
}

function takenWhole(copying: Copying, whole: object, depth: number): unknown {
  if (depth > jsonDepthMax) throw malformed(`The body is nested deeper than ${jsonDepthMax} levels.`);
  countPart(copying);
  count(copying, 2);
  if (Array.isArray(whole)) {
    const list: unknown[] = [];
    for (const item of whole as unknown[]) {
      count(copying, 1);
      list.push(taken(copying, item, depth));
    }
    return list;
  }
  if (!isPlain(whole)) throw malformed('A body cannot hold an object that is not plain.');
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(whole)) {
    if (value === undefined) continue;
    if (name === '__proto__') throw malformed('A property may not be named __proto__.');
    countPart(copying);
    requireText(copying, name);
    count(copying, 2);
    copy[name] = taken(copying, value, depth);
  }
  return copy;
}

function requireText(copying: Copying, text: string): void {
  count(copying, Buffer.byteLength(text) + 2);
  if (!text.isWellFormed()) throw malformed('A text holds half of a surrogate pair.');
  if (text.includes('\0')) throw malformed('A text holds the character U+0000.');
}

function count(copying: Copying, bytes: number): void {
  copying.bytes += bytes;
  if (copying.bytes > copying.limits.bytesMax) throw tooLarge(copying.limits.bytesMax);
}

function countPart(copying: Copying): void {
  if (++copying.parts > copying.limits.partsMax)
    throw malformed(
      `The body holds more than ${copying.limits.partsMax} objects, lists and properties. Send less at once.`,
    );
}

/** A copy of what JSON shows of a value, and its length as JSON, in characters without escapes. */
export function showJson(value: unknown): { value: unknown; chars: number } {
  const size = { chars: 0 };
  return { value: shown(size, value), chars: size.chars };
}

function shown(size: { chars: number }, value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      size.chars += value.length + 2;
      return value;
    case 'number':
      size.chars += String(value).length;
      return Number.isFinite(value) ? value : null;
    case 'boolean':
      size.chars += value ? 4 : 5;
      return value;
    case 'object':
      if (value !== null) return shownWhole(size, value);
      size.chars += 4;
      return null;
    default:
      throw new TypeError(`JSON has no form for a ${typeof value}.`);
  }
}

function shownWhole(size: { chars: number }, whole: object): unknown {
  size.chars += 1;
  if (Array.isArray(whole)) {
    size.chars += whole.length;
    return whole.map((item: unknown) => shown(size, item ?? null));
  }
  if (!isPlain(whole)) return shown(size, JSON.parse(JSON.stringify(whole)));
  const copy: Record<string, unknown> = {};
  const object = whole as Readonly<Record<string, unknown>>;
  for (const name in object) {
    if (object[name] === undefined) continue;
    size.chars += name.length + 4;
    const value = shown(size, object[name]);
    // An assignment would set what the copy inherits from.
    if (name === '__proto__') Object.defineProperty(copy, name, { value, enumerable: true });
    else copy[name] = value;
  }
  return copy;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
