// Filters of subscriptions are looked at for every event: how many there are, and what each may search, is bounded, and the
// looking takes turns with everything else.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { long, startArena, type Arena } from './victim.ts';
import { largeText, makeLargeIssues } from './seed.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await startArena();
});
afterAll(() => arena.stop());

const register = (arena: Arena, texts: number, salt: number) =>
  arena.call('POST', '/api/v1/webhooks', {
    url: 'http://127.0.0.1:9/none',
    events: ['issue.*'],
    filter: {
      or: Array.from({ length: texts }, (_, n) => ({ description: { contains: `needle${salt}x${n}` } })),
    },
  });

test('as many endpoints as are allowed, each with as many texts, and large issues that change', async () => {
  const tooMany = await register(arena, 100, 0);
  const texts = tooMany.status === 201 ? 100 : 10;
  let refused = '';
  for (let n = 1; n <= 300 && refused === ''; n++) {
    const { status, json } = await register(arena, texts, n);
    if (status !== 201) refused = json.error.message;
  }
  const [id] = await makeLargeIssues(arena.call, 'ENG', 1, 256 * 1024);
  await arena.flood(async () => {
    for (let n = 0; n < (long ? 20 : 5); n++)
      await arena.call('PATCH', `/api/v1/issues/${id}`, { description: largeText(256 * 1024, n + 50) });
    await Bun.sleep(long ? 5_000 : 1_500);
  });
  expect(tooMany.status).toBe(422);
  expect(refused).toContain('100 webhooks');
}, 300_000);
