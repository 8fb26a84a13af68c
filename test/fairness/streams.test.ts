// Event streams that catch up: they take turns, hold one piece each, and read no more of the log than they send.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { long, startArena, type Arena } from './victim.ts';
import { largeText, makeLargeIssues } from './seed.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await startArena();
});
afterAll(() => arena.stop());

test('twenty readers that stall on events of 250 KB', async () => {
  const [id] = await makeLargeIssues(arena.call, 'ENG', 1, 250_000);
  for (let n = 0; n < (long ? 120 : 80); n++)
    await arena.call('PATCH', `/api/v1/issues/${id}`, { description: largeText(250_000, n + 9) });
  const report = await arena.flood(async () => {
    for (let n = 0; n < 20; n++) arena.ask('/api/v1/events/stream?after=0');
    await Bun.sleep(long ? 8_000 : 1_500);
  });
  // 20 pieces take some 40; the rest is garbage, up to 175. With a log of twice the length a reader that held all of it would hold 20 MB.
  expect(report.grownMb).toBeLessThan(240);
}, 300_000);

test('five readers that catch up on everything', async () => {
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
