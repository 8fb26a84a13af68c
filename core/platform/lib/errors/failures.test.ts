import { expect, test } from 'bun:test';
import { ApiError } from './errors.ts';
import { errorForLog } from './failures.ts';

test('an error is logged with its code, its stack and all its causes, down to the first', () => {
  const first = Object.assign(new Error('connection reset'), { code: 'ECONNRESET' });
  const second = new TypeError('no answer', { cause: first });
  const text = errorForLog(new ApiError('unavailable', 'try later', { cause: second }));
  expect(text.split('\n').filter((line) => !/^\s+at /.test(line))).toEqual([
    'ApiError (unavailable): try later',
    'caused by TypeError: no answer',
    'caused by Error (ECONNRESET): connection reset',
  ]);
  expect(text).toContain('failures.test.ts');
});

test('any thrown value can be logged', () => {
  expect(errorForLog('words')).toBe('words');
  expect(errorForLog(null)).toBe('null');
  expect(errorForLog(new Error('x', { cause: 'words' }))).toEndWith('caused by words');
  expect(errorForLog(new AggregateError([new Error('one'), new Error('two')], 'many'))).toMatch(
    /^AggregateError: many\n(.*\n)*together with Error: one\n(.*\n)*together with Error: two\n/,
  );
  const unreadable = {
    [Symbol.toPrimitive]() {
      throw new Error('no');
    },
  };
  expect(errorForLog(unreadable)).toBe('A value was thrown that cannot be converted to text.');
});

test('the logged length is bounded, regardless of the chain, the messages and the stack', () => {
  const circular = new Error('round');
  circular.cause = circular;
  expect(errorForLog(circular).split('round').length - 1).toBe(6);
  expect(errorForLog(new Error('m'.repeat(1_000_000))).length).toBeLessThan(10_000);
  const wide = (depth: number): Error =>
    new AggregateError(
      depth === 0 ? [] : Array.from({ length: 9 }, () => wide(depth - 1)),
      'w'.repeat(1_500),
    );
  expect(errorForLog(wide(4)).length).toBeLessThan(17_000);
});
