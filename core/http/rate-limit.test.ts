import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createRateLimiter } from './rate-limit.ts';

const limits = { perMinute: { read: 3, write: 2, search: 0 }, workspacePerMinute: 5 };
const windowMs = 60_000;

test('no bucket admits more than its limit in its window, and every verdict adds up', () => {
  const step = fc.record({
    caller: fc.constantFrom('a', 'b', 'c'),
    route: fc.constantFrom('x', 'y'),
    kind: fc.constantFrom('read' as const, 'write' as const, 'search' as const),
    workspace: fc.constantFrom('w1', 'w2'),
    waitMs: fc.oneof(fc.nat(20_000), fc.constantFrom(0, 0, 0, windowMs)),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 1_000_000_000;
      const limiter = createRateLimiter(limits, () => now);
      // The model: one count and one end a bucket.
      const buckets = new Map<string, { count: number; endsAt: number }>();
      const bucket = (key: string): { count: number; endsAt: number } => {
        const known = buckets.get(key);
        if (known && now < known.endsAt) return known;
        const fresh = { count: 0, endsAt: now + windowMs };
        buckets.set(key, fresh);
        return fresh;
      };
      for (const { caller, route, kind, workspace, waitMs } of steps) {
        now += waitMs;
        const verdict = limiter.hit(caller, `${route} ${kind}`, kind, workspace);
        const used = [
          ...(limits.perMinute[kind] > 0
            ? [{ at: bucket(`${caller} ${route} ${kind}`), limit: limits.perMinute[kind] }]
            : []),
          { at: bucket(workspace), limit: limits.workspacePerMinute },
        ];
        const admitted = used.every(({ at, limit }) => at.count < limit);
        if (admitted) for (const { at } of used) at.count++;
        expect(verdict.admitted).toBe(admitted);
        expect(verdict.remaining).toBe(Math.min(...used.map(({ at, limit }) => limit - at.count)));
        const tight = used.filter(({ at, limit }) => limit - at.count === verdict.remaining);
        expect(tight.map(({ limit }) => limit)).toContain(verdict.limit);
        const waits = tight.map(({ at }) => Math.max(1, Math.ceil((at.endsAt - now) / 1000)));
        expect(verdict.resetSeconds).toBe(Math.max(...waits));
        expect(verdict.resetSeconds).toBeLessThanOrEqual(60);
      }
    }),
    { seed: 20261120, numRuns: 300 },
  );
});

test('the map stays small however many peers come, and forgets no token for them', () => {
  let now = 1_000_000_000;
  const limiter = createRateLimiter(limits, () => now);
  for (let hit = 0; hit < 2; hit++) limiter.hit('token', 'x', 'write', 'w1');
  for (let peer = 0; peer < 250_000; peer++) limiter.hitPeer(`peer ${peer}`, 'refused');
  expect(limiter.size()).toBeLessThanOrEqual(100_002);
  expect(limiter.hit('token', 'x', 'write', 'w1').admitted).toBe(false);
  for (let window = 0; window < 2; window++) {
    now += windowMs;
    limiter.hitPeer('late', 'refused');
  }
  expect(limiter.size()).toBeLessThanOrEqual(4);
});

test('who guesses tokens closes no page to others of the same address, nor pages the guessing', () => {
  const limiter = createRateLimiter(limits, () => 0);
  const guesses = Array.from({ length: 5 }, () => limiter.hitPeer('10.0.0.1', 'refused').admitted);
  expect(guesses).toEqual([true, true, true, false, false]);
  expect(limiter.hitPeer('10.0.0.1', 'public')).toMatchObject({ admitted: true, remaining: 2 });
  expect(limiter.hitPeer('10.0.0.2', 'refused').admitted).toBe(true);
});
