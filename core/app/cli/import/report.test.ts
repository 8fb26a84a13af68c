import { expect, test } from 'bun:test';
import { paceText } from './report.ts';

test.each<[done: number, total: number, tookMs: number, said: string]>([
  [0, 20_058, 10, '0 of 20,058'],
  [90, 20_058, 300, '90 of 20,058'],
  [900, 20_058, 3_000, '900 of 20,058, 300/s, 64 s left'],
  [900, 200_058, 3_000, '900 of 200,058, 300/s, 11 min left'],
  [900, 9_000_000, 3_000, '900 of 9,000,000, 300/s, 8.3 h left'],
  [3, 3, 2_000, '3 of 3, 2/s'],
  // The total is an estimate.
  [5, 3, 1_000, '5 of 5, 5/s'],
])('%d of %d after %d ms', (done, total, tookMs, said) => {
  expect(paceText(done, total, tookMs)).toBe(said);
});
