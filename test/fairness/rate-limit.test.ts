// Guessed tokens and requests from ever new addresses affect no other client.
import { expect, test } from 'bun:test';
import { startApp, type TestApp } from '../app.ts';

const flags = { rateLimit: 'on', rateRead: '20', rateWrite: '20', rateWorkspace: '1000' };

const statuses = (app: TestApp, token: string | null, path: string, from: string[]): Promise<number[]> =>
  Promise.all(
    from.map(
      async (address) =>
        (await app.clientOf(token)('GET', path, undefined, { 'x-forwarded-for': address })).status,
    ),
  );

const warnings = ({ logs }: TestApp): string[] =>
  logs
    .filter(({ level, fields }) => level === 'warn' && 'fix' in fields)
    .map(({ fields }) => JSON.stringify(fields));

test('600 wrong tokens block neither health nor documents nor valid tokens of the same address', async () => {
  const app = await startApp({ flags });
  const guesses = await statuses(app, 'ttm_wrong', '/api/v1/issues', Array<string>(600).fill('x'));
  expect(guesses.filter((status) => status === 401).length).toBe(20);
  expect(guesses.filter((status) => status === 429).length).toBe(580);
  for (const path of ['/docs', '/api/v1/openapi.json', '/sign-in'])
    expect([path, (await app.clientOf(null)('GET', path)).status]).toEqual([path, 200]);
  expect((await app.call('GET', '/api/v1/issues')).status).toBe(200);
  await app.stop();
});

test('health has no rate limit, for any client and credential', async () => {
  const app = await startApp({ flags });
  for (const path of ['/healthz', '/readyz'])
    for (const token of [null, 'ttm_wrong', app.workspace.apiKey]) {
      const replies = await statuses(app, token, path, Array<string>(60).fill('x'));
      expect([path, token, new Set(replies)]).toEqual([path, token, new Set([200])]);
    }
  const { headers } = await app.clientOf(null)('GET', '/healthz');
  expect(headers.get('ratelimit-limit')).toBe('2147483647');
  await app.stop();
});

test('behind a trusted proxy unauthenticated clients count separately, by the last address that the proxy appended', async () => {
  const app = await startApp({ flags: { ...flags, trustedProxy: '127.0.0.1/32, ::1/128' } });
  const clients = Array.from({ length: 40 }, (_, i) => `203.0.113.${i}`);
  expect(new Set(await statuses(app, null, '/api/v1/issues', clients))).toEqual(new Set([401]));
  // A client that invents addresses before its own counts as one.
  const spoofed = await statuses(
    app,
    null,
    '/api/v1/issues',
    clients.map((address) => `${address}, 198.51.100.7`),
  );
  expect(spoofed.filter((status) => status === 401).length).toBe(20);
  expect(warnings(app)).toEqual([expect.stringContaining('--base-url')]);
  await app.stop();

  const direct = await startApp({ flags });
  const replies = await statuses(direct, null, '/api/v1/issues', clients);
  expect(replies.filter((status) => status === 401).length).toBe(20);
  // Logged once, with the setting to use if it is the operator's proxy.
  expect(warnings(direct)).toEqual([expect.stringContaining('--trusted-proxy 127.0.0.1/32')]);
  await direct.stop();
});

test('a new peer costs the same beyond 50,000 as before', async () => {
  const { createRateLimiter } = await import('../../core/kernel/http/limits/rate-limit.ts');
  const limits = {
    perMinute: { read: 20, write: 20, search: 20 },
    memberPerMinute: 0,
    workspacePerMinute: 0,
  };
  const limiter = createRateLimiter(limits, () => 0);
  const microsOf = (from: number): number => {
    const startedAt = process.cpuUsage();
    for (let peer = from; peer < from + 20_000; peer++) limiter.hitPeer(`peer ${peer}`, 'refused');
    const { user, system } = process.cpuUsage(startedAt);
    return (user + system) / 20_000;
  };
  microsOf(0);
  const few = microsOf(20_000);
  for (let peer = 40_000; peer < 200_000; peer++) limiter.hitPeer(`peer ${peer}`, 'refused');
  expect(microsOf(200_000)).toBeLessThan(Math.max(20, few * 10));
});
