import { expect, test } from 'bun:test';
import { createInline, inlineMsMax } from './inline.ts';

/** A clock whose CPU time advances only as told. */
function fakeInline() {
  const time = { nowMs: 0, cpuMs: 0 };
  const inline = createInline(
    () => time.nowMs,
    () => time.cpuMs,
  );
  const entry = (wallMs: number, cpuMs: number): number =>
    inline.measure(() => {
      time.nowMs += wallMs;
      time.cpuMs += cpuMs;
    });
  const pass = (ms: number): void => {
    time.nowMs += ms;
    time.cpuMs += ms;
  };
  return { inline, entry, pass };
}

test('an entry that waits for a busy CPU is measured by its CPU time', () => {
  const { entry, pass } = fakeInline();
  pass(100);
  expect(entry(0.4, 0.4)).toBeCloseTo(0.4);
  pass(2);
  expect(entry(300, 0.2)).toBeCloseTo(0.2);
  expect(entry(30, 30)).toBeCloseTo(30);
});

test('an entry is long once isolated-vm may have ended it', () => {
  const { inline, entry } = fakeInline();
  entry(inlineMsMax - 1, 1);
  expect(inline.wasLong).toBe(false);
  entry(inlineMsMax, 1);
  expect(inline.wasLong).toBe(true);
});

test('a guest is entered on the main thread after short entries, while their mean is short', () => {
  const { inline } = fakeInline();
  inline.setAfter(3);
  const proof = inline.newProof();
  const given = (...entries: number[]): boolean[] =>
    entries.map((usedMs) => {
      proof.note(usedMs);
      return proof.isGiven;
    });
  expect(given(0.1, 0.1, 0.1, 3)).toEqual([false, false, true, true]);
  // Near the limit, a guest changes its thread once and not with every entry.
  expect(given(6, 9, 6, 6)).toEqual([true, false, false, false]);
  const times = given(...Array<number>(30).fill(0.1));
  expect([times.indexOf(true) > 5, times.lastIndexOf(false) < times.indexOf(true)]).toEqual([true, true]);
  expect(inline.newProof().isGiven).toBe(false);
});
