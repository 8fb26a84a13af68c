// Answers that nobody reads: a page ends after so many bytes, what is not sent counts against who asked for it, and who takes
// nothing is hung up on.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { long, startArena, type Arena } from './victim.ts';
import { makeLargeIssues } from './seed.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await startArena();
  await makeLargeIssues(arena.call, 'ENG', long ? 100 : 40, 256 * 1024);
}, 60_000);
afterAll(() => arena.stop());

test('sixty lists of everything, asked for and not read', async () => {
  const report = await arena.flood(async () => {
    for (let n = 0; n < 60; n++) arena.ask('/api/v1/issues?limit=100');
    await Bun.sleep(long ? 8_000 : 1_500);
  });
  // Unbounded, these answers take 1.5 GB.
  expect(report.grownMb).toBeLessThan(250);
}, 300_000);
