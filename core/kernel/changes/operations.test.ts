import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isoTime } from './operations.ts';

test('a time is formatted as by Date', () => {
  expect(isoTime(null)).toBe(null);
  fc.assert(
    fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_998 }), (ms) => {
      expect(isoTime(ms)).toBe(new Date(ms).toISOString());
      expect(isoTime(ms + 1)).toBe(new Date(ms + 1).toISOString());
    }),
    { seed: 1, numRuns: 2_000 },
  );
});
