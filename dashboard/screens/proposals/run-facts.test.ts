import { expect, test } from 'bun:test';
import { argumentsText, callsOf, subjectOf } from './run-facts.ts';

test('calls are counted by operation, with error codes and without proposed changes', () => {
  const calls = [
    { op: 'issues.get', code: null },
    { op: 'labels.list', code: 'not_found' },
    { op: 'issues.update', code: null },
    { op: 'issues.get', code: null },
  ];
  expect(callsOf(calls, ['issues.update'])).toEqual([
    { op: 'issues.get', count: 2, codes: [] },
    { op: 'labels.list', count: 1, codes: ['not_found'] },
  ]);
});

test('the subject of an event is its issue, that of a comment, or the name of its object', () => {
  expect(subjectOf({ identifier: 'ENG-1', title: 'Crash' })).toEqual({ identifier: 'ENG-1', name: 'Crash' });
  expect(subjectOf({ body: 'x', issue: { identifier: 'ENG-2', title: 'Slow' } })).toEqual({
    identifier: 'ENG-2',
    name: 'Slow',
  });
  expect(subjectOf({ name: 'bug' })).toEqual({ identifier: null, name: 'bug' });
  expect(subjectOf({})).toEqual({ identifier: null, name: null });
});

test('long arguments are cut', () => {
  expect(argumentsText('["iss_1",{"limit":5}]')).toBe('"iss_1",{"limit":5}');
  expect(argumentsText(`["${'x'.repeat(400)}"]`)).toHaveLength(301);
});
