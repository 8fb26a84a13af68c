import { expect, test } from 'bun:test';
import { createStrikes } from './strikes.ts';

test('an install is in quarantine for an hour after a crash, and while it is a suspect', () => {
  let now = 0;
  const strikes = createStrikes(() => now);
  strikes.crashed('a');
  strikes.suspect('b');
  expect(['a', 'b', 'c'].map(strikes.quarantined)).toEqual([true, true, false]);
  now = 3_599_999;
  for (const install of ['a', 'b']) strikes.survived(install);
  expect(['a', 'b'].map(strikes.quarantined)).toEqual([true, false]);
  now = 3_600_000;
  expect(strikes.quarantined('a')).toBe(false);
  strikes.crashed('a');
  strikes.forget('a');
  expect(strikes.quarantined('a')).toBe(false);
});

test('of more installs than are remembered, the one that was looked at longest ago is forgotten', () => {
  for (const kind of ['crashed', 'suspect'] as const) {
    const strikes = createStrikes(() => 0, 2);
    for (const install of ['a', 'b', 'c']) strikes[kind](install);
    expect(['a', 'b', 'c'].map(strikes.quarantined)).toEqual([false, true, true]);
  }
});
