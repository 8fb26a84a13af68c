import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { backoffDelayMs, PLUGIN_RUN_BACKOFF } from './clock.ts';

const delays = (random: () => number): (number | undefined)[] =>
  [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => backoffDelayMs(PLUGIN_RUN_BACKOFF, attempt, random));

test('a plugin run is tried 8 times, from 10 s to 4 h apart', () => {
  expect(delays(() => 0)).toEqual([
    10_000,
    33_604,
    112_924,
    379_473,
    1_275_190,
    4_285_177,
    14_400_000,
    undefined,
  ]);
});

test('delays grow, jitter adds at most a tenth, and all attempts fit into 24 hours', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 8, maxLength: 8 }),
      (draws) => {
        const bases = delays(() => 0)
          .slice(0, 7)
          .map(Number);
        const drawn = [...draws];
        const jittered = delays(() => drawn.shift() ?? 0)
          .slice(0, 7)
          .map(Number);
        let totalMs = 0;
        for (const [index, delayMs] of jittered.entries()) {
          const baseMs = bases[index] ?? 0;
          expect(delayMs).toBeGreaterThanOrEqual(baseMs);
          expect(delayMs).toBeLessThanOrEqual(Math.ceil(baseMs * 1.1) + 1);
          if (index > 0) expect(delayMs).toBeGreaterThan(jittered[index - 1] ?? 0);
          totalMs += delayMs;
        }
        expect(totalMs).toBeLessThan(24 * 3_600_000);
      },
    ),
    { seed: 20_261 },
  );
});

test('a policy of one or two attempts needs no growth', () => {
  const policy = { attemptsMax: 2, firstDelayMs: 50, lastDelayMs: 50, jitterMax: 0 };
  expect(backoffDelayMs(policy, 1, () => 0.5)).toBe(50);
  expect(backoffDelayMs(policy, 2, () => 0.5)).toBeUndefined();
  expect(backoffDelayMs({ ...policy, attemptsMax: 1 }, 1, () => 0.5)).toBeUndefined();
});
