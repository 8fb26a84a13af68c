import { expect, test } from 'bun:test';
import { Type } from 'typebox';
import { ApiError, type ErrorDetail } from '../../../platform/lib/errors/errors.ts';
import { Closed, nullable, text } from '../../../platform/lib/schema.ts';
import { compileCheck, compileQuery } from './validate.ts';

function refusal(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError)
      return error.details.map((detail: ErrorDetail) => `${detail.path} ${detail.issue}`);
    throw error;
  }
  return [];
}

const schema = Closed({
  name: text(5),
  kind: Type.Optional(Type.Enum(['a', 'b'])),
  count: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 9 }))),
  tags: Type.Optional(
    Type.Array(Type.String({ pattern: '^t' }), { minItems: 1, maxItems: 2, uniqueItems: true }),
  ),
  inner: Type.Optional(nullable(Closed({ deep: Type.Array(Closed({ x: Type.Boolean() })) }))),
});
const check = compileCheck(schema);

test('each broken rule is named by its path and its code', () => {
  const rows: [body: unknown, ...details: string[]][] = [
    [{ name: 'x' }],
    [{ name: 'x', count: null, inner: null }],
    [{}, 'name required'],
    [{ name: 'toolong' }, 'name too_long'],
    [{ name: '' }, 'name too_short', 'name invalid_format'],
    [{ name: null }, 'name invalid_type'],
    [{ name: 'x', kind: 'c' }, 'kind invalid_enum'],
    [{ name: 'x', count: 0 }, 'count too_small'],
    [{ name: 'x', count: 10 }, 'count too_big'],
    [{ name: 'x', count: 1.5 }, 'count invalid_type'],
    [{ name: 'x', tags: [] }, 'tags too_short'],
    [{ name: 'x', tags: ['t', 't1', 't2'] }, 'tags too_long'],
    [{ name: 'x', tags: ['t', 't'] }, 'tags conflict'],
    [{ name: 'x', tags: ['t', 'x'] }, 'tags.1 invalid_format'],
    [{ name: 'x', surprise: 1 }, 'surprise unknown_field'],
    [{ name: 'x', constructor: 1 }, 'constructor unknown_field'],
    [{ name: 'x', 'a/b~c.d': 1 }, 'a/b~c.d unknown_field'],
    [[], ' invalid_type'],
    [null, ' invalid_type'],
    ['text', ' invalid_type'],
  ];
  for (const [body, ...details] of rows) expect([body, refusal(() => check(body))]).toEqual([body, details]);
  expect(refusal(() => check({ name: 'x', inner: { deep: [{ x: 1 }] } }))).toEqual([
    'inner.deep.0.x invalid_type',
  ]);
  expect(refusal(() => check({ name: 'x', inner: 5 }))).toEqual(['inner invalid_type']);
});

test('the message has the first broken rule and counts the others', () => {
  const message = (body: unknown): string => {
    try {
      check(body);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(message({ name: '' })).toBe('name: Give at least 1 character.');
  expect(message({ name: '', count: 0 })).toBe('name: Give at least 1 character. (and 1 more)');
});

const flags = compileCheck(Closed({ list: Type.Array(Type.Boolean()) }));
const answerTo = (length: number): { fields: number; message: string } => {
  try {
    flags({ list: Array.from({ length }, () => 1) });
    return { fields: 0, message: '' };
  } catch (error) {
    const { details, message } = error as ApiError;
    return { fields: new Set(details.map(({ path }) => path)).size, message };
  }
};

test('each invalid field is named, up to 100, and the count in the message is correct', () => {
  const first = 'list.0: Give a value of type boolean.';
  expect(answerTo(1)).toEqual({ fields: 1, message: first });
  expect(answerTo(10)).toEqual({ fields: 10, message: `${first} (and 9 more)` });
  expect(answerTo(100)).toEqual({ fields: 100, message: `${first} (and 99 more)` });
  expect(answerTo(101)).toEqual({ fields: 100, message: `${first} (and at least 100 more)` });
  expect(answerTo(20_000)).toEqual({ fields: 100, message: `${first} (and at least 199 more)` });
});

test('fields that break several rules each are named up to 100 as well', () => {
  const names = Array.from({ length: 150 }, (_, at) => `n${at}`);
  const texts = compileCheck(Closed(Object.fromEntries(names.map((name) => [name, text(5)]))));
  const blank = Object.fromEntries(names.slice(0, 99).map((name) => [name, '']));
  const rest = Object.fromEntries(names.slice(99).map((name) => [name, 'x']));
  const paths = new Set(refusal(() => texts({ ...blank, ...rest })).map((line) => line.split(' ')[0]));
  expect(paths).toEqual(new Set(names.slice(0, 99)));
});

test('a length is counted in characters, not in surrogates', () => {
  expect(refusal(() => check({ name: '💥💥💥💥💥' }))).toEqual([]);
  expect(refusal(() => check({ name: '💥💥💥💥💥💥' }))).toEqual(['name too_long']);
});

test('the value is not repeated, and a long list of errors is truncated', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`field${index}`, 'secret']));
  try {
    check({ name: 'x', ...many });
    throw new Error('not refused');
  } catch (error) {
    expect((error as ApiError).details[0]).toMatchObject({ path: 'field0', issue: 'unknown_field' });
    expect((error as ApiError).details.length).toBeLessThanOrEqual(100);
    expect(JSON.stringify([(error as ApiError).details, (error as Error).message])).not.toContain('secret');
  }
});

const readQuery = compileQuery(
  Closed({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    open: Type.Optional(Type.Boolean()),
    team: Type.Optional(Type.String()),
  }),
);
const read = (search: string): unknown => readQuery(new URLSearchParams(search));

test('a query is parsed from the canonical texts of its types, each name once', () => {
  expect(read('limit=10&open=true&team=')).toEqual({ limit: 10, open: true, team: '' });
  expect(read('team=5')).toEqual({ team: '5' });
  expect(read('')).toEqual({});
  for (const text of ['1e1', '0x10', ' 5', '5 ', '5.0', '', '-0', '+5', '05', '9'.repeat(30), 'NaN', '５'])
    expect([text, refusal(() => read(`limit=${encodeURIComponent(text)}`))]).toEqual([
      text,
      ['limit invalid_type'],
    ]);
  for (const text of ['1', 'TRUE', 'yes', ''])
    expect([text, refusal(() => read(`open=${text}`))]).toEqual([text, ['open invalid_type']]);
  expect(refusal(() => read('limit=101'))).toEqual(['limit too_big']);
  expect(refusal(() => read('limit=1&limit=1'))).toEqual(['limit conflict']);
  for (const name of ['x', '__proto__', 'constructor', 'toString', 'hasOwnProperty'])
    expect([name, refusal(() => read(`${name}=1`))]).toEqual([name, [`${name} unknown_field`]]);
  expect(() => read('team=a%00b')).toThrow('U+0000');
});
