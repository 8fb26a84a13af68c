// Requests of one workspace that cost the server much: streams and answers that nobody reads, lists and subscription filters that search
// much text, and bodies made to be expensive. One server serves all tests, in an order in which the memory that an earlier test left
// hides no growth of a later one.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { largeText, makeLargeIssues } from './seed.ts';
import { long, startArena, type Arena } from './victim.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await startArena();
});
afterAll(() => arena.stop());

const forMs = (longMs: number): number => (long ? longMs : 1_500);

test('twenty streams that stall on events of 250 KB hold one piece each', async () => {
  const [id] = await makeLargeIssues(arena.call, 'ENG', 1, 250_000);
  for (let n = 0; n < (long ? 120 : 80); n++)
    await arena.call('PATCH', `/api/v1/issues/${id}`, { description: largeText(250_000, n + 9) });
  const report = await arena.flood(async () => {
    for (let n = 0; n < 20; n++) arena.ask('/api/v1/events/stream?after=0');
    await Bun.sleep(forMs(8_000));
  });
  // 20 pieces take some 40; the rest is garbage, up to 175. With a log of twice the length a reader that held all of it would hold 20 MB.
  expect(report.grownMb).toBeLessThan(240);
}, 300_000);

test('five streams that catch up on everything take turns with others', async () => {
  const count = long ? 10_000 : 2_000;
  for (let n = 0; n < count; n += 100)
    await arena.call('POST', '/api/v1/issues/bulk', {
      issues: Array.from({ length: 100 }, (_, at) => ({ team: 'ENG', title: `Small ${n + at}` })),
    });
  // Nobody sees further than the end of the log.
  expect((await arena.call('GET', '/api/v1/events?limit=1&after=999999999')).status).toBe(409);
  const reader = async (): Promise<number> => {
    const { body } = await fetch(`${arena.url}/api/v1/events/stream?after=0&types=issue.created`, {
      headers: { authorization: `Bearer ${arena.flooder.apiKey}` },
    });
    let events = 0;
    let rest = '';
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      events += lines.filter((line) => line === 'event: issue.created').length;
      if (events >= count) break;
    }
    return events;
  };
  await arena.flood(async () => {
    const counts = await Promise.all(Array.from({ length: 5 }, reader));
    for (const seen of counts) expect(seen).toBeGreaterThanOrEqual(count);
  });
}, 300_000);

test('sixty lists of large issues that nobody reads are bounded in memory', async () => {
  await makeLargeIssues(arena.call, 'ENG', long ? 300 : 60, 256 * 1024);
  const report = await arena.flood(async () => {
    for (let n = 0; n < 60; n++) arena.ask('/api/v1/issues?limit=100&sort=-createdAt');
    await Bun.sleep(forMs(8_000));
  });
  // Unbounded, these answers take 1.5 GB.
  expect(report.grownMb).toBeLessThan(250);
}, 300_000);

const searches = (count: number, salt: string) =>
  encodeURIComponent(
    JSON.stringify({
      or: Array.from({ length: count }, (_, n) => ({ description: { contains: `needle${salt}${n}` } })),
    }),
  );

test('a filter with a hundred texts is refused by name, and holds up nobody', async () => {
  await arena.flood(async () => {
    const { status, json } = await arena.call('GET', `/api/v1/issues?filter=${searches(100, '')}`);
    expect([status, json.error?.code, json.error?.message]).toEqual([
      422,
      'validation_failed',
      expect.stringContaining('at most 10 text searches'),
    ]);
  });
}, 300_000);

test('lists with as many texts as are allowed, from five clients at once, hold up nobody', async () => {
  await arena.flood(async () => {
    const until = performance.now() + forMs(10_000);
    const client = async (name: number): Promise<void> => {
      for (let n = 0; performance.now() < until; n++) {
        const { status, json } = await arena.call(
          'GET',
          `/api/v1/issues?filter=${searches(10, `${name}x${n}x`)}`,
        );
        expect([200, 422, 429]).toContain(status);
        if (status === 422) expect(json.error.code).toBe('budget_exceeded');
      }
    };
    await Promise.all([0, 1, 2, 3, 4].map(client));
  });
}, 300_000);

const register = (texts: number, salt: number) =>
  arena.call('POST', '/api/v1/webhooks', {
    url: 'http://127.0.0.1:9/none',
    events: ['issue.*'],
    filter: {
      or: Array.from({ length: texts }, (_, n) => ({ description: { contains: `needle${salt}x${n}` } })),
    },
  });

test('as many webhooks as are allowed, each with as many texts, hold up nobody while large issues change', async () => {
  const tooMany = await register(100, 0);
  const texts = tooMany.status === 201 ? 100 : 10;
  let refused = '';
  for (let n = 1; n <= 300 && refused === ''; n++) {
    const { status, json } = await register(texts, n);
    if (status !== 201) refused = json.error.message;
  }
  const [id] = await makeLargeIssues(arena.call, 'ENG', 1, 256 * 1024);
  await arena.flood(async () => {
    for (let n = 0; n < (long ? 20 : 5); n++)
      await arena.call('PATCH', `/api/v1/issues/${id}`, { description: largeText(256 * 1024, n + 50) });
    await Bun.sleep(forMs(5_000));
  });
  expect(tooMany.status).toBe(422);
  expect(refused).toContain('100 webhooks');
}, 300_000);

const millions = `{"issues":[${'{},'.repeat(1_390_000)}{}]}`;

test('bodies of four megabytes of nothing, from four clients, hold up nobody', async () => {
  const report = await arena.flood(async () => {
    const until = performance.now() + forMs(10_000);
    const client = async (): Promise<void> => {
      while (performance.now() < until) {
        const response = await fetch(`${arena.url}/api/v1/issues/bulk`, {
          method: 'POST',
          headers: { authorization: `Bearer ${arena.flooder.apiKey}`, 'content-type': 'application/json' },
          body: millions,
        });
        expect([400, 422, 429]).toContain(response.status);
        await response.text();
      }
    };
    await Promise.all([client(), client(), client(), client()]);
  });
  // Garbage, of which a larger program leaves more lie: 4 of these bodies at a time are 17 MB of text.
  expect(report.grownMb).toBeLessThan(900);
}, 300_000);
