// Lists that look at much: they run off the loop, take turns, and end within a budget, so that nobody else waits for them.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { long, startArena, type Arena } from './victim.ts';
import { makeLargeIssues } from './seed.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await startArena();
  await makeLargeIssues(arena.call, 'ENG', long ? 300 : 60, 256 * 1024);
}, 60_000);
afterAll(() => arena.stop());

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
      expect.stringContaining('at most 10 texts'),
    ]);
  });
}, 300_000);

test('as many texts as are allowed, from five clients at once: the victim does not notice', async () => {
  await arena.flood(async () => {
    const until = performance.now() + (long ? 10_000 : 1_500);
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
