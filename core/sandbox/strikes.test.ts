import { expect, test } from 'bun:test';
import { createStrikes } from './strikes.ts';

test('an install is in quarantine for an hour after a crash, and while it is a suspect', () => {
  let now = 0;
  const strikes = createStrikes(() => now);
  strikes.crashed('a');
  strikes.suspect('b');
  const areIn = (...installs: string[]) => installs.map((install) => strikes.quarantined(install, 'code'));
  expect(areIn('a', 'b', 'c')).toEqual([true, true, false]);
  now = 3_599_999;
  for (const install of ['a', 'b']) strikes.survived(install);
  expect(areIn('a', 'b')).toEqual([true, false]);
  now = 3_600_000;
  expect(areIn('a')).toEqual([false]);
  strikes.crashed('a');
  strikes.forget('a');
  expect(areIn('a')).toEqual([false]);
});

test('code that burned is in quarantine for ten minutes, whatever becomes of its install; other code is not', () => {
  let now = 0;
  const strikes = createStrikes(() => now);
  strikes.burned('a', 'code');
  strikes.survived('a');
  strikes.forget('a');
  expect(strikes.quarantined('a', 'code')).toBe(true);
  expect(strikes.quarantined('a', 'other code')).toBe(false);
  expect(strikes.quarantined('b', 'code')).toBe(false);
  now = 600_000;
  expect(strikes.quarantined('a', 'code')).toBe(false);
});

test('of more installs than are remembered, the one that was looked at longest ago is forgotten', () => {
  for (const kind of ['crashed', 'suspect'] as const) {
    const strikes = createStrikes(() => 0, 2);
    for (const install of ['a', 'b', 'c']) strikes[kind](install);
    const areIn = ['a', 'b', 'c'].map((install) => strikes.quarantined(install, 'code'));
    expect(areIn).toEqual([false, true, true]);
  }
});
