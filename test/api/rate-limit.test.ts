// Rate limits (docs/spec/api.md › Rate limits): exact limits, correct headers, and no effect of one caller on others.
import { expect, test } from 'bun:test';
import { startApp, type Client, type Reply } from '../app.ts';

const limit = 10;
const flags = { rateLimit: 'on', rateRead: String(limit), rateWrite: '10', rateWorkspace: '100000' };

async function storm(call: Client, requests: number): Promise<Reply[]> {
  return Promise.all(Array.from({ length: requests }, () => call('GET', '/api/v1/teams')));
}

test('each token gets exactly its limit with correct headers, independently of other tokens', async () => {
  const app = await startApp({ flags: { ...flags, rateWrite: '1000' } });
  const clients = await Promise.all(
    Array.from({ length: 50 }, async () => app.clientOf(await app.mintKey(['teams:read', 'labels:read']))),
  );
  const quiet = clients.pop()!;
  for (const call of clients) {
    const replies = await storm(call, limit * 20);
    const admitted = replies.filter(({ status }) => status === 200);
    expect(admitted.length).toBe(limit);
    const remaining = admitted
      .map(({ headers }) => Number(headers.get('ratelimit-remaining')))
      .sort((a, b) => b - a);
    expect(remaining).toEqual(Array.from({ length: limit }, (_, index) => limit - 1 - index));
    for (const { status, headers, json } of replies) {
      expect([headers.get('ratelimit-limit'), headers.get('ratelimit-reset')]).toEqual([String(limit), '60']);
      if (status === 200) expect(headers.has('retry-after')).toBe(false);
      else
        expect([
          status,
          json.error.code,
          headers.get('retry-after'),
          headers.get('ratelimit-remaining'),
        ]).toEqual([429, 'rate_limited', '60', '0']);
    }
    expect((await call('GET', '/api/v1/labels')).status).toBe(200);
  }
  expect((await quiet('GET', '/api/v1/teams')).headers.get('ratelimit-remaining')).toBe(String(limit - 1));
  app.clock.advance(59_999);
  expect((await clients[0]!('GET', '/api/v1/teams')).headers.get('retry-after')).toBe('1');
  app.clock.advance(1);
  expect((await storm(clients[0]!, limit * 2)).filter(({ status }) => status === 200).length).toBe(limit);
  await app.stop();
});

test('a workspace has a total limit, a bulk request counts once, and unauthenticated callers are limited by address', async () => {
  const app = await startApp({ flags: { ...flags, rateRead: '1000', rateMember: '0', rateWorkspace: '30' } });
  const issues = Array.from({ length: 100 }, (_, index) => ({ team: 'ENG', title: `${index}` }));
  const bulk = await app.call('POST', '/api/v1/issues/bulk', { issues });
  expect([bulk.status, bulk.headers.get('ratelimit-remaining')]).toEqual([201, '9']);
  const replies = await storm(app.call, 60);
  expect(replies.filter(({ status }) => status === 200).length).toBe(29);
  expect(replies.find(({ status }) => status === 429)!.headers.get('ratelimit-limit')).toBe('30');
  const other = app.clientOf((await app.addWorkspace('Other', 'OTHER')).apiKey);
  expect((await other('GET', '/api/v1/teams')).status).toBe(200);
  await app.stop();

  const strict = await startApp({ flags: { ...flags, rateRead: '5', rateWorkspace: '0' } });
  const stranger = strict.clientOf('ttm_guess');
  const guesses = await Promise.all(Array.from({ length: 12 }, () => stranger('GET', '/api/v1/issues')));
  expect(guesses.map(({ status }) => status).sort()).toEqual([...Array(5).fill(401), ...Array(7).fill(429)]);
  expect((await strict.call('GET', '/api/v1/issues')).status).toBe(200);
  await strict.stop();
});

test('disabled limits still send the headers, and a clock jump does not change a bucket', async () => {
  const off = await startApp();
  const reply = await off.call('GET', '/api/v1/teams');
  expect(['limit', 'remaining', 'reset'].map((name) => reply.headers.get(`ratelimit-${name}`))).toEqual([
    '2147483647',
    '2147483647',
    '0',
  ]);
  await off.stop();
  const app = await startApp({ flags });
  for (const jump of [3_600_000, -3_600_000, 86_400_000, -86_400_000]) {
    await storm(app.call, limit * 2);
    app.clock.jump(jump);
    expect((await storm(app.call, 1)).map(({ status }) => status)).toEqual([429]);
    app.clock.advance(60_000);
    const replies = await storm(app.call, limit * 2);
    expect([jump, replies.filter(({ status }) => status === 200).length]).toEqual([jump, limit]);
    for (const { headers } of replies)
      expect(Number(headers.get('ratelimit-remaining'))).toBeGreaterThanOrEqual(0);
  }
  await app.stop();
});

test('the wait time is the longer one if both token and workspace are at their limits', async () => {
  const app = await startApp({ flags: { ...flags, rateRead: '5', rateMember: '0', rateWorkspace: '5' } });
  await app.call('GET', '/api/v1/labels');
  app.clock.advance(40_000);
  await storm(app.call, 4);
  app.clock.advance(20_000);
  // The window of the workspace has ended, and that of the token has not.
  expect((await app.call('GET', '/api/v1/teams')).headers.get('ratelimit-remaining')).toBe('0');
  expect((await app.call('GET', '/api/v1/teams')).headers.get('retry-after')).toBe('40');
  await storm(app.clientOf(await app.mintKey(['teams:read'])), 5);
  const refused = await app.call('GET', '/api/v1/teams');
  const wait = Number(refused.headers.get('retry-after'));
  app.clock.advance(wait * 1000);
  expect([refused.status, wait, (await app.call('GET', '/api/v1/teams')).status]).toEqual([429, 60, 200]);
  await app.stop();
});
