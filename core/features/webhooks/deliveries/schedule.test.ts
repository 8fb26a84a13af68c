/** The retry schedule meets its guarantees under any jitter, latency, outage and receiver. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ATTEMPT_OFFSETS_MS, nextAttempt, parseRetryAfterMs, RETRY_HORIZON_MS } from './deliver.ts';

const SEED = 20_262;
const FIRST_MS = Date.UTC(2026, 0, 1);
const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const HOUR_MS = 3_600_000;

/** Runs a delivery that always fails; `each` returns the cost and the response of every attempt. */
function run(
  each: (attempt: number) => { random?: number; tookMs?: number; lateMs?: number; retryAfterMs?: number },
): number[] {
  const startedAt: number[] = [];
  let nowMs = FIRST_MS;
  for (let attempt = 1; attempt < 100; attempt += 1) {
    const { random = 0, tookMs = 0, lateMs = 0, retryAfterMs } = each(attempt);
    if (attempt > 1) nowMs += lateMs;
    startedAt.push(nowMs - FIRST_MS);
    nowMs += tookMs;
    const next = nextAttempt({
      attempt,
      firstAttemptAtMs: FIRST_MS,
      nowMs,
      random: () => random,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    if (next === 'parked') return startedAt;
    if (next.atMs < nowMs) throw new Error('an attempt was planned in the past');
    nowMs = next.atMs;
  }
  throw new Error('the delivery never ended');
}

test('attempts are at 0, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 24 h, then the delivery is parked', () => {
  const s = 1_000;
  expect(run(() => ({}))).toEqual([
    0,
    5 * s,
    300 * s,
    1_800 * s,
    7_200 * s,
    18_000 * s,
    36_000 * s,
    86_400 * s,
  ]);
});

test('jitter adds at most a tenth, never to the last attempt, and slow attempts cost none', () => {
  fc.assert(
    fc.property(
      fc.infiniteStream(unit),
      fc.infiniteStream(fc.integer({ min: 0, max: 15_000 })),
      (draws, durations) => {
        const startedAt = run(() => ({
          random: Number(draws.next().value),
          tookMs: Number(durations.next().value),
        }));
        expect(startedAt).toHaveLength(ATTEMPT_OFFSETS_MS.length);
        for (const [index, atMs] of startedAt.entries()) {
          const offsetMs = ATTEMPT_OFFSETS_MS[index] ?? 0;
          expect(atMs).toBeGreaterThanOrEqual(offsetMs);
          // The 5 s retry waits for a first attempt that takes up to 15 s.
          if (index !== 1) expect(atMs).toBeLessThan(offsetMs === 0 ? 1 : offsetMs * 1.1);
        }
        expect(startedAt.at(-1)).toBe(RETRY_HORIZON_MS);
      },
    ),
    { seed: SEED, numRuns: 300 },
  );
});

test('with outages and Retry-After there are at most 8 attempts, none planned past 24 h, the last one at 24 h unless the core was down then', () => {
  const event = fc.record({
    random: unit,
    tookMs: fc.integer({ min: 0, max: 15_000 }),
    lateMs: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 12 * HOUR_MS })),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 60 * HOUR_MS }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(event, { minLength: 8, maxLength: 8 }), (events) => {
      const startedAt = run((attempt) => {
        const { retryAfterMs, ...rest } = events[attempt - 1] ?? {
          random: 0,
          tookMs: 0,
          lateMs: 0,
          retryAfterMs: undefined,
        };
        return retryAfterMs === undefined ? rest : { ...rest, retryAfterMs };
      });
      expect(startedAt.length).toBeLessThanOrEqual(8);
      const lastMs = startedAt.at(-1) ?? 0;
      const lateMs = events[startedAt.length - 1]?.lateMs ?? 0;
      const lastTookMs = events[startedAt.length - 1]?.tookMs ?? 0;
      // A delivery is parked only after the horizon has passed, computed from the last attempt's planned
      // time, delay and duration.
      expect(lastMs + lastTookMs).toBeGreaterThanOrEqual(RETRY_HORIZON_MS);
      expect(lastMs - lateMs).toBeLessThanOrEqual(RETRY_HORIZON_MS);
      for (let index = 1; index < startedAt.length; index += 1) {
        const requestedMs = events[index - 1]?.retryAfterMs ?? 0;
        const earliestMs = Math.min((startedAt[index - 1] ?? 0) + requestedMs, RETRY_HORIZON_MS);
        expect(startedAt[index] ?? 0).toBeGreaterThanOrEqual(earliestMs);
      }
    }),
    { seed: SEED, numRuns: 1_000 },
  );
});

test('attempts missed in an outage are not made up in a burst', () => {
  const startedAt = run((attempt) => ({ lateMs: attempt === 3 ? 6 * HOUR_MS : 0 }));
  expect(startedAt).toEqual([0, 5_000, 300_000 + 6 * HOUR_MS, 10 * HOUR_MS, 24 * HOUR_MS]);
});

test('a delivery whose only attempt was lost until after 24 h is parked', () => {
  const failed = { attempt: 1, firstAttemptAtMs: FIRST_MS, random: () => 0 };
  expect(nextAttempt({ ...failed, nowMs: FIRST_MS + RETRY_HORIZON_MS - 1 })).toEqual({
    atMs: FIRST_MS + RETRY_HORIZON_MS,
  });
  for (const lateMs of [0, 1, 30_000, HOUR_MS]) {
    expect(nextAttempt({ ...failed, nowMs: FIRST_MS + RETRY_HORIZON_MS + lateMs })).toBe('parked');
  }
});

describe('Retry-After', () => {
  const next = (nowOffsetMs: number, retryAfterMs: number) =>
    nextAttempt({
      attempt: 1,
      firstAttemptAtMs: FIRST_MS,
      random: () => 0,
      nowMs: FIRST_MS + nowOffsetMs,
      retryAfterMs,
    });

  test('delays an attempt, never advances it, and at most until the final one', () => {
    expect(next(0, 1_000)).toEqual({ atMs: FIRST_MS + 5_000 });
    expect(next(0, 60_000)).toEqual({ atMs: FIRST_MS + 60_000 });
    expect(next(0, 3 * HOUR_MS)).toEqual({ atMs: FIRST_MS + 3 * HOUR_MS });
    expect(next(0, 1_000 * HOUR_MS)).toEqual({ atMs: FIRST_MS + RETRY_HORIZON_MS });
    expect(next(0, Number.POSITIVE_INFINITY)).toEqual({ atMs: FIRST_MS + RETRY_HORIZON_MS });
  });

  test('is parsed as seconds or as an HTTP date, and otherwise ignored', () => {
    const read = (header?: string) => parseRetryAfterMs(header, FIRST_MS);
    expect(read('120')).toBe(120_000);
    expect(read(' 0 ')).toBe(0);
    expect(read('Thu, 01 Jan 2026 00:02:00 GMT')).toBe(120_000);
    for (const junk of [undefined, '', '-5', '1.5', 'soon', '2026', '99999999999', '2026-01-01T00:02:00Z']) {
      const expected = junk === '2026' ? 2_026_000 : undefined;
      expect(read(junk)).toBe(expected);
    }
    expect(read('Wed, 31 Dec 2025 23:59:00 GMT')).toBeUndefined();
  });
});
