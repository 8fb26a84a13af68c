import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { scopeOf } from '../../../platform/store/store.ts';
import type { RateCaller } from '../principal.ts';
import { createRateLimiter } from './rate-limit.ts';

const limits = {
  perMinute: { read: 3, write: 2, search: 0 },
  memberPerMinute: 4,
  workspacePerMinute: 5,
};
const windowMs = 60_000;

/** @param memberId null for a token that acts for no member */
const caller = (
  workspaceId: string,
  memberId: string | null,
  tokenId = `${workspaceId} ${memberId}`,
  kind: 'api_key' | 'app' = 'api_key',
): RateCaller => ({
  tokenId,
  scope: scopeOf(workspaceId, tokenId),
  actor: { kind, id: tokenId, name: tokenId, ...(memberId === null ? {} : { memberId }) },
});

/** Fixed window of the model. */
interface Window {
  endsAt: number;
  count: number;
  readonly principals: Map<string, number>;
}

/** Reference implementation of the specified rule, regardless of cost. */
function createModel() {
  const windows = new Map<string, Window>();
  const windowOf = (key: string, now: number): Window => {
    const known = windows.get(key);
    if (known && now < known.endsAt) return known;
    const opened = { endsAt: now + windowMs, count: 0, principals: new Map<string, number>() };
    windows.set(key, opened);
    return opened;
  };
  return (who: RateCaller, route: string, limitClass: 'read' | 'write' | 'search', now: number) => {
    const token = windowOf(`${who.tokenId} ${route}`, now);
    const shared = windowOf(who.scope.workspaceId, now);
    const isApp = who.actor.kind === 'app';
    const { memberId = who.tokenId } = who.actor;
    const usedBy = (name: string): number => shared.principals.get(name) ?? 0;
    const principal = isApp ? `${memberId} apps` : memberId;
    const active = [...shared.principals.values()].filter((used) => used > 0).length;
    const reserved = Math.ceil(limits.workspacePerMinute / Math.max(1, active));
    const levels = [
      ...(limits.perMinute[limitClass] > 0
        ? [{ limit: limits.perMinute[limitClass], used: token.count, endsAt: token.endsAt }]
        : []),
      {
        limit: limits.memberPerMinute,
        used: usedBy(memberId) + usedBy(`${memberId} apps`),
        endsAt: shared.endsAt,
      },
      ...(isApp
        ? [{ limit: limits.memberPerMinute / 2, used: usedBy(principal), endsAt: shared.endsAt }]
        : []),
      reserved - usedBy(principal) > limits.workspacePerMinute - shared.count
        ? { limit: reserved, used: usedBy(principal), endsAt: shared.endsAt }
        : { limit: limits.workspacePerMinute, used: shared.count, endsAt: shared.endsAt },
    ];
    const admitted = levels.every(({ limit, used }) => used < limit);
    if (admitted) {
      token.count++;
      shared.count++;
      shared.principals.set(principal, usedBy(principal) + 1);
    }
    return {
      admitted,
      levels: levels.map(({ limit, used, endsAt }) => ({
        limit,
        left: limit - used - Number(admitted),
        endsAt,
      })),
    };
  };
}

test('no level admits more than its limit in its window, and every verdict has correct numbers', () => {
  const step = fc.record({
    who: fc.constantFrom('a', 'b', 'b app', 'c', null),
    key: fc.constantFrom('1', '2'),
    route: fc.constantFrom('x', 'y'),
    kind: fc.constantFrom('read' as const, 'write' as const, 'search' as const),
    workspace: fc.constantFrom('w1', 'w2'),
    waitMs: fc.oneof(fc.nat(20_000), fc.constantFrom(0, 0, 0, windowMs)),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 1_000_000_000;
      const limiter = createRateLimiter(limits, () => now);
      const model = createModel();
      for (const { who, key, route, kind, workspace, waitMs } of steps) {
        now += waitMs;
        const memberId = who?.split(' ')[0] ?? null;
        const isApp = who?.endsWith('app') ?? false;
        const asking = caller(workspace, memberId, `${workspace} ${who} ${key}`, isApp ? 'app' : 'api_key');
        const verdict = limiter.hit(asking, `${route} ${kind}`, kind);
        const { admitted, levels } = model(asking, `${route} ${kind}`, kind, now);
        expect(verdict.admitted).toBe(admitted);
        expect(verdict.remaining).toBe(Math.max(0, Math.min(...levels.map(({ left }) => left))));
        expect(verdict.remaining).toBeLessThanOrEqual(verdict.limit);
        const tight = levels.filter(({ left }) => left === Math.min(...levels.map((one) => one.left)));
        expect(tight.map(({ limit }) => limit)).toContain(verdict.limit);
        const waits = tight.map(({ endsAt }) => Math.max(1, Math.ceil((endsAt - now) / 1000)));
        expect(verdict.resetSeconds).toBe(Math.max(...waits));
        expect(verdict.resetSeconds).toBeLessThanOrEqual(60);
      }
    }),
    { seed: 20261120, numRuns: 500 },
  );
});

test('a member gets its reserved quota under any load, and nobody gets more than the limit of a member', () => {
  const rates = {
    perMinute: { read: 0, write: 0, search: 0 },
    memberPerMinute: 30,
    workspacePerMinute: 60,
  };
  const burst = fc.record({
    who: fc.nat(12),
    keys: fc.integer({ min: 1, max: 9 }),
    app: fc.boolean(),
    times: fc.nat(80),
  });
  fc.assert(
    fc.property(fc.array(burst, { maxLength: 40 }), fc.nat(40), (bursts, victimAsks) => {
      const limiter = createRateLimiter(rates, () => 0);
      const admitted = new Map<string, number>();
      const ask = (who: string, key: string, isApp: boolean): void => {
        const asking = caller('w', who, `${who} ${key}`, isApp ? 'app' : 'api_key');
        if (limiter.hit(asking, key, 'read').admitted) admitted.set(who, (admitted.get(who) ?? 0) + 1);
      };
      for (const { who, keys, app, times } of bursts)
        for (let n = 0; n < times; n++) ask(`attacker ${who}`, String(n % keys), app);
      for (let n = 0; n < victimAsks; n++) ask('victim', 'key', false);
      const members = new Set(bursts.filter(({ times }) => times > 0).map(({ who }) => who)).size;
      // Apps count as a principal in addition to their member.
      const principals = 2 * members + 1;
      const reserved = Math.min(rates.memberPerMinute / 2, Math.ceil(rates.workspacePerMinute / principals));
      expect(admitted.get('victim') ?? 0).toBeGreaterThanOrEqual(Math.min(victimAsks, reserved));
      for (const count of admitted.values()) expect(count).toBeLessThanOrEqual(rates.memberPerMinute);
      const sum = [...admitted.values()].reduce((before, count) => before + count, 0);
      const excess = 1 + Math.log(principals);
      expect(sum).toBeLessThanOrEqual(rates.workspacePerMinute * (1 + excess) + principals);
    }),
    { seed: 20261120, numRuns: 300 },
  );
});

test('apps that act for a member leave the member half of the limit, and the member can use all of it', () => {
  const rates = { perMinute: { read: 0, write: 0, search: 0 }, memberPerMinute: 10, workspacePerMinute: 0 };
  const limiter = createRateLimiter(rates, () => 0);
  const admitted = (who: RateCaller, times: number): number =>
    Array.from({ length: times }, () => limiter.hit(who, 'x', 'read')).filter((one) => one.admitted).length;
  for (const app of ['grant 1', 'grant 2', 'grant 3']) admitted(caller('w', 'ana', app, 'app'), 20);
  expect(limiter.hit(caller('w', 'ana', 'grant 1', 'app'), 'x', 'read')).toEqual({
    admitted: false,
    limit: 5,
    remaining: 0,
    resetSeconds: 60,
  });
  expect(admitted(caller('w', 'ana'), 20)).toBe(5);
  expect(admitted(caller('w', 'ben'), 20)).toBe(10);
  expect(admitted(caller('w', 'ben', 'grant 4', 'app'), 20)).toBe(0);
});

test('the map stays small under any number of peers, and evicts no token for them', () => {
  let now = 1_000_000_000;
  const limiter = createRateLimiter(limits, () => now);
  for (let hit = 0; hit < 2; hit++) limiter.hit(caller('w1', 'ana'), 'x', 'write');
  for (let peer = 0; peer < 250_000; peer++) limiter.hitPeer(`peer ${peer}`, 'refused');
  expect(limiter.size()).toBeLessThanOrEqual(100_002);
  expect(limiter.hit(caller('w1', 'ana'), 'x', 'write').admitted).toBe(false);
  for (let window = 0; window < 2; window++) {
    now += windowMs;
    limiter.hitPeer('late', 'refused');
  }
  expect(limiter.size()).toBeLessThanOrEqual(4);
});

test('refused tokens and public pages have separate limits for each address', () => {
  const limiter = createRateLimiter(limits, () => 0);
  const guesses = Array.from({ length: 5 }, () => limiter.hitPeer('10.0.0.1', 'refused').admitted);
  expect(guesses).toEqual([true, true, true, false, false]);
  expect(limiter.hitPeer('10.0.0.1', 'public')).toMatchObject({ admitted: true, remaining: 2 });
  expect(limiter.hitPeer('10.0.0.2', 'refused').admitted).toBe(true);
});
