// Validates and copies request bodies that in-process callers pass as values, under the rules of JSON texts. The copy prevents
// later changes of a validated value.
import { ApiError } from '../errors/errors.ts';
import { jsonDepthMax, malformed, malformedTexts } from './json.ts';

export interface ValueLimits {
  readonly bytesMax: number;
  /** Number of objects, lists and properties. */
  readonly partsMax: number;
}

export function tooLarge(bytesMax: number): ApiError {
  return new ApiError('payload_too_large', `The body is larger than ${bytesMax} bytes. Send less data.`);
}

/** Counters for the limits while copying. */
interface Copying {
  readonly limits: ValueLimits;
  bytes: number;
  parts: number;
}

/**
 * Returns a copy of a body value, and its length as JSON without escapes. Undefined properties are omitted.
 * @throws ApiError payload_too_large; malformed_request for what `parseJson` refuses, and for values that JSON cannot represent
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
      if (!Number.isFinite(value))
        throw malformed(`The number ${value} is out of range. Send a finite number.`);
      count(copying, String(value).length);
      // JSON has no minus zero.
      return value === 0 ? 0 : value;
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
      throw malformed(
        `A body cannot contain a value of type ${typeof value}. Convert the value to JSON first.`,
      );
  }
}

function takenWhole(copying: Copying, whole: object, depth: number): unknown {
  if (depth > jsonDepthMax) throw malformed(malformedTexts.nested);
  countPart(copying);
  if (Array.isArray(whole)) return takenList(copying, whole, depth);
  if (!isPlain(whole))
    throw malformed('A body cannot contain an object that is not plain. Convert the object to JSON first.');
  const copy: Record<string, unknown> = {};
  let properties = 0;
  for (const [name, value] of Object.entries(whole)) {
    if (value === undefined) continue;
    if (name === '__proto__') throw malformed(malformedTexts.proto);
    countPart(copying);
    requireText(copying, name);
    // Counts the colon, and the comma or opening brace.
    count(copying, 2);
    copy[name] = taken(copying, value, depth);
    properties++;
  }
  count(copying, properties === 0 ? 2 : 1);
  return copy;
}

function takenList(copying: Copying, items: readonly unknown[], depth: number): unknown[] {
  const list: unknown[] = [];
  count(copying, items.length === 0 ? 2 : 1);
  for (const item of items) {
    count(copying, 1);
    list.push(taken(copying, item, depth));
  }
  return list;
}

function requireText(copying: Copying, text: string): void {
  count(copying, Buffer.byteLength(text) + 2);
  if (!text.isWellFormed()) throw malformed(malformedTexts.surrogate);
  if (text.includes('\0')) throw malformed(malformedTexts.nullCharacter);
}

function count(copying: Copying, bytes: number): void {
  copying.bytes += bytes;
  if (copying.bytes > copying.limits.bytesMax) throw tooLarge(copying.limits.bytesMax);
}

function countPart(copying: Copying): void {
  if (++copying.parts > copying.limits.partsMax)
    throw malformed(
      `The body has more than ${copying.limits.partsMax} objects, lists and properties. Send less at once.`,
    );
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
