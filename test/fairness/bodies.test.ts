// Bodies made to cost more than they weigh: what they may hold is bounded before they are parsed, and what is wrong with them
// is told without looking at all of it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { long, startArena, type Arena } from './victim.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await startArena();
});
afterAll(() => arena.stop());

const millions = `{"issues":[${'{},'.repeat(1_390_000)}{}]}`;

test('four megabytes of nothing, from four clients', async () => {
  const report = await arena.flood(async () => {
    const until = performance.now() + (long ? 10_000 : 1_500);
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
