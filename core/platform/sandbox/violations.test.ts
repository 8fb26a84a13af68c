import { expect, test } from 'bun:test';
import { createViolations } from './describe.ts';

test('an install is in quarantine for an hour after a crash, and while it is a suspect', () => {
  let now = 0;
  const violations = createViolations(() => now);
  violations.crashed('a');
  violations.suspect('b');
  const areIn = (...installs: string[]) => installs.map((install) => violations.quarantined(install, 'code'));
  expect(areIn('a', 'b', 'c')).toEqual([true, true, false]);
  now = 3_599_999;
  for (const install of ['a', 'b']) violations.survived(install);
  expect(areIn('a', 'b')).toEqual([true, false]);
  now = 3_600_000;
  expect(areIn('a')).toEqual([false]);
  violations.crashed('a');
  violations.forget('a');
  expect(areIn('a')).toEqual([false]);
});

test('an install stays off the main thread for an hour after it blocked one, or was a suspect', () => {
  let now = 0;
  const violations = createViolations(() => now);
  violations.blocked('a');
  violations.suspect('b');
  for (const install of ['a', 'b']) {
    violations.survived(install);
    violations.forget(install);
  }
  const mayBlock = () => ['a', 'b', 'c'].map((install) => violations.mayBlock(install));
  expect(mayBlock()).toEqual([false, false, true]);
  now = 3_599_999;
  expect(mayBlock()).toEqual([false, false, true]);
  now = 3_600_000;
  expect(mayBlock()).toEqual([true, true, true]);
});

test('code that exhausts the CPU is in quarantine for ten minutes, independent of its install; other code is not', () => {
  let now = 0;
  const violations = createViolations(() => now);
  violations.burned('a', 'code');
  violations.survived('a');
  violations.forget('a');
  expect(violations.quarantined('a', 'code')).toBe(true);
  expect(violations.quarantined('a', 'other code')).toBe(false);
  expect(violations.quarantined('b', 'code')).toBe(false);
  now = 600_000;
  expect(violations.quarantined('a', 'code')).toBe(false);
});

test('the least recently checked install is forgotten when the limit is exceeded', () => {
  for (const kind of ['crashed', 'suspect'] as const) {
    const violations = createViolations(() => 0, 2);
    for (const install of ['a', 'b', 'c']) violations[kind](install);
    const areIn = ['a', 'b', 'c'].map((install) => violations.quarantined(install, 'code'));
    expect(areIn).toEqual([false, true, true]);
  }
});
