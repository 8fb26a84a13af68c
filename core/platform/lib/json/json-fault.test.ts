import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { findJsonFault, positionText } from './json-fault.ts';

const long = process.env.TATAMI_LONG === '1';

test('the position of a fault is the first character that cannot occur there in JSON', () => {
  const rows: [text: string, place: string, expected: string][] = [
    ['', 'line 1, column 1', 'a value'],
    ['{', 'line 1, column 2', 'a name in double quotes or }'],
    ['{"a":1,}', 'line 1, column 8', 'a name in double quotes'],
    ["{'a':1}", 'line 1, column 2', 'a name in double quotes or }'],
    ['{"a" 1}', 'line 1, column 6', 'a colon'],
    ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3', 'a comma or }'],
    ['{\r\n"a": [1 2]}', 'line 2, column 9', 'a comma or ]'],
    ['[1,]', 'line 1, column 4', 'a value'],
    ['["é", nope]', 'line 1, column 7', 'a value'],
    ['[01]', 'line 1, column 3', 'a comma or ]'],
    ['{} {}', 'line 1, column 4', 'the end of the text'],
    ['{"a":"b', 'line 1, column 8', 'a closing double quote (the text begins at line 1, column 6)'],
    ['["a\nb"]', 'line 1, column 4', 'an escape such as \\n for this control character'],
    ['["\\x"]', 'line 1, column 3', 'an escape such as \\n or \\u00e9'],
    ['[1}', 'line 1, column 3', 'a comma or ]'],
    ['{"a":1', 'line 1, column 7', 'a comma or }'],
  ];
  for (const [text, position, expected] of rows) {
    const fault = findJsonFault(text);
    expect([text, fault && positionText(text, fault.at), fault?.expected]).toEqual([
      text,
      position,
      expected,
    ]);
  }
});

test('a text has a fault exactly if JSON.parse rejects it', () => {
  const seed = long ? Date.now() : 20261120;
  const mutated = fc
    .tuple(
      fc.jsonValue(),
      fc.nat(),
      fc.constantFrom('', ',', '}', ']', '{', '[', '"', ':', '\\', '1', ' ', '-', 'e', 'null'),
    )
    .map(([value, at, put]) => {
      const text = JSON.stringify(value, null, at % 3);
      const index = at % (text.length + 1);
      return text.slice(0, index) + put + text.slice(index + (at % 2));
    });
  fc.assert(
    fc.property(mutated, (text) => {
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      expect([text, findJsonFault(text) === null]).toEqual([text, isJson]);
    }),
    { seed, numRuns: long ? 100_000 : 2_000 },
  );
});
