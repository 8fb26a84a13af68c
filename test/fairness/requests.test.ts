// Expensive requests of one workspace: streams and responses that are not read, lists and subscription filters that
// search much text, and bodies that are expensive to parse. One server serves all tests, in an order in which the
// memory of an earlier test hides no growth of a later one.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { largeText, makeLargeIssues } from './seed.ts';
import { long, startArena, type Arena } from './victim.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await startArena();
});
afterAll(() => arena.stop());

const forMs = (longMs: number): number => (long ? longMs : 1_500);

test('twenty streams that stall on events of 250 KB buffer one chunk each', async () => {
  const [id] = await makeLargeIssues(arena.call, 'ENG', 1, 250_000);
  for (let n = 0; n < (long ? 120 : 80); n++)
    await arena.call('PATCH', `/api/v1/issues/${id}`, { description: largeText(250_000, n + 9) });
  const report = await arena.flood(async () => {
    for (let n = 0; n < 20; n++) arena.ask('/api/v1/events/stream?after=0');
    await Bun.sleep(forMs(8_000));
  });
  // 20 chunks take about 40 MB; the rest, up to 175 MB, is garbage. With a log of twice the length a stream that
  // buffered all of it would take 20 MB.
  expect(report.grownMb).toBeLessThan(240);
}, 300_000);

test('five streams that catch up on the entire log share the server fairly', async () => {
  const count = long ? 10_000 : 2_000;
  for (let n = 0; n < count; n += 100)
    await arena.call('POST', '/api/v1/issues/bulk', {
      issues: Array.from({ length: 100 }, (_, at) => ({ team: 'ENG', title: `Small ${n + at}` })),
    });
  // A position beyond the end of the log is rejected.
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

test('sixty unread lists of large issues use bounded memory', async () => {
  await makeLargeIssues(arena.call, 'ENG', long ? 300 : 60, 256 * 1024);
  const report = await arena.flood(async () => {
    for (let n = 0; n < 60; n++) arena.ask('/api/v1/issues?limit=100&sort=-createdAt');
    await Bun.sleep(forMs(8_000));
  });
  // Without the bound, these responses take 1.5 GB.
  expect(report.grownMb).toBeLessThan(250);
}, 300_000);

const searches = (count: number, salt: string) =>
  encodeURIComponent(
    JSON.stringify({
      or: Array.from({ length: count }, (_, n) => ({ description: { contains: `needle${salt}${n}` } })),
    }),
  );

test('a filter with a hundred texts is rejected by name, and delays no other client', async () => {
  await arena.flood(async () => {
    const { status, json } = await arena.call('GET', `/api/v1/issues?filter=${searches(100, '')}`);
    expect([status, json.error?.code, json.error?.message]).toEqual([
      422,
      'validation_failed',
      expect.stringContaining('at most 10 text searches'),
    ]);
  });
}, 300_000);

test('lists with the maximum number of texts, from five clients at once, delay no other client', async () => {
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

test('the maximum number of webhooks, each with as many texts, delays no other client while large issues change', async () => {
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
  expect(refused).toContain('100 enabled webhooks');
}, 300_000);

const millions = `{"issues":[${'{},'.repeat(1_390_000)}{}]}`;

test('bodies of four megabytes without content, from four clients, delay no other client', async () => {
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
  // Garbage, which grows with the size of the program: 4 concurrent bodies are 17 MB of text.
  expect(report.grownMb).toBeLessThan(900);
}, 300_000);
