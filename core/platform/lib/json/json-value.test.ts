import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ApiError } from '../errors/errors.ts';
import { takeJson } from './json-value.ts';
import { jsonDepthMax, jsonPartsMax, parseJson } from './json.ts';

const limits = { bytesMax: 1024 * 1024, partsMax: jsonPartsMax };
const refusalOf = (value: unknown): string | null => {
  try {
    takeJson(value, limits);
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
};
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

test('a value is accepted or rejected as its JSON would be', () => {
  const anything = fc.anything({ maxDepth: 3, withNullPrototype: true });
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue({ stringUnit: 'binary' }), anything), (value) => {
      let text: string | undefined;
      try {
        text = JSON.stringify(value);
      } catch {
        return expect(refusalOf(value)).toBe('malformed_request');
      }
      // Values that JSON omits or rewrites are refused, except undefined properties.
      if (refusalOf(value) !== null) return;
      const { value: copy, bytes } = takeJson(value, limits);
      expect(JSON.stringify(copy)).toBe(text!);
      expect(parseJson(text!)).toEqual(copy);
      if (!text!.includes('\\')) expect(bytes).toBe(Buffer.byteLength(text!));
    }),
    { seed: 20261122, numRuns: 1000 },
  );
});

test('a value that is not plain JSON is rejected', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const rows: [unknown, string | null][] = [
    [{ a: undefined, b: 1 }, null],
    [nested(jsonDepthMax), null],
    [nested(jsonDepthMax + 1), 'malformed_request'],
    [cycle, 'malformed_request'],
    [Number.NaN, 'malformed_request'],
    [[-Infinity], 'malformed_request'],
    [10n, 'malformed_request'],
    [undefined, 'malformed_request'],
    [[undefined], 'malformed_request'],
    [() => 1, 'malformed_request'],
    [{ a: Symbol('a') }, 'malformed_request'],
    [new Date(0), 'malformed_request'],
    [new Map(), 'malformed_request'],
    [new Uint8Array(1), 'malformed_request'],
    [{ toJSON: () => 1 }, 'malformed_request'],
    ['\ud800', 'malformed_request'],
    [{ '\udc00': 1 }, 'malformed_request'],
    ['a\0b', 'malformed_request'],
    [{ 'a\0': 1 }, 'malformed_request'],
    [JSON.parse('{"__proto__":{"a":1}}'), 'malformed_request'],
    [Array.from({ length: jsonPartsMax - 1 }, () => ({})), null],
    [Array.from({ length: jsonPartsMax }, () => ({})), 'malformed_request'],
    ['x'.repeat(limits.bytesMax - 2), null],
    ['x'.repeat(limits.bytesMax - 1), 'payload_too_large'],
    ['é'.repeat(limits.bytesMax / 2), 'payload_too_large'],
    [{ ['x'.repeat(limits.bytesMax)]: 1 }, 'payload_too_large'],
    [Array(limits.bytesMax).fill(1), 'payload_too_large'],
  ];
  for (const [at, [value, code]] of rows.entries()) expect([at, refusalOf(value)]).toEqual([at, code]);
});

test('an accepted value is copied deeply', () => {
  const input = { list: [{ a: 1 }], object: { b: 'x' } };
  const { value } = takeJson(input, limits);
  input.list[0]!.a = 2;
  input.object.b = 'y';
  expect(value).toEqual({ list: [{ a: 1 }], object: { b: 'x' } });
});
