import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ApiError } from '../errors/errors.ts';
import { jsonDepthMax, jsonPartsMax, parseJson } from './json.ts';
import { threadMs } from '../process/cpu.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test('valid JSON is parsed as by JSON.parse', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      fc.pre(!/\\u0000|__proto__/.test(text));
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
    { seed: 20261120, numRuns: 500 },
  );
  for (const text of [
    '""',
    '"\\u00e9\\ud83d\\ude00"',
    '-0',
    '1E+2',
    '"{\\"a\\":1,\\"a\\":2}"',
    nested(jsonDepthMax),
  ])
    expect(parseJson(text)).toEqual(JSON.parse(text));
  // The same name twice, but in two objects.
  expect(parseJson('[{"a":{"a":1}},{"a":"a"}]')).toEqual([{ a: { a: 1 } }, { a: 'a' }]);
});

test('JSON that two parsers could read differently is rejected', () => {
  for (const text of [
    '',
    '{',
    '{"a":1,}',
    "{'a':1}",
    'undefined',
    '\u00a01',
    nested(jsonDepthMax + 1),
    '{"a":'.repeat(65) + '1' + '}'.repeat(65),
    '{"a":1,"a":1}',
    '{"a":1,"b":{},"\\u0061":2}',
    '{"a":{"b":1,"b":2}}',
    '[{"x":[{"y":1,"y":2}]}]',
    '{"__proto__":1}',
    '{"\\u005f_proto__":1}',
    '1e400',
    '[-1e309]',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"a\\u0000b"',
    '{"\\u0000":1}',
  ]) {
    const read = (): unknown => parseJson(text);
    expect(read).toThrow(ApiError);
    expect(read).toThrow(expect.objectContaining({ code: 'malformed_request' }));
  }
});

test('objects, lists and properties are counted before anything is allocated; items of a list are not counted', () => {
  const list = (item: string, count: number): string =>
    `[${Array.from({ length: count }, () => item).join()}]`;
  expect(parseJson(list('{}', jsonPartsMax - 1))).toBeArrayOfSize(jsonPartsMax - 1);
  expect(parseJson(list('1', 500_000))).toBeArrayOfSize(500_000);
  expect(parseJson(JSON.stringify([',{[:"'.repeat(50_000)]))).toBeArrayOfSize(1);
  for (const text of [
    list('{}', jsonPartsMax),
    list('[]', jsonPartsMax),
    list('{"a":1}', jsonPartsMax / 2),
    `{${Array.from({ length: jsonPartsMax }, (_, n) => `"k${n}":1`).join()}}`,
    // Invalid JSON, but the limit applies before the parser detects that.
    '{'.repeat(50) + '[],'.repeat(jsonPartsMax),
  ])
    expect(() => parseJson(text)).toThrow(`more than ${jsonPartsMax} objects`);
});

test('parsing time grows linearly with the length of the text, regardless of its content', () => {
  const took = (text: string): number => {
    const times = [1, 2].map(() => {
      const from = threadMs();
      try {
        parseJson(text);
      } catch {
        // A refusal counts as well: only the CPU time matters.
      }
      return threadMs() - from;
    });
    return Math.min(...times);
  };
  const length = 256 * 1024;
  for (const part of ['{},', '[', '"', '\\', '\\"', '"\\"",', '"a":', ',', '1,', '-', ' '])
    for (const before of ['', '[', '["', '{"'])
      expect([part, before, took(before + part.repeat(length / part.length))]).toSatisfy(
        ([, , ms]) => Number(ms) < 100,
      );
});
