// Wait slots of requests are shared by workspace and member: nobody exhausts those of others.
import { expect, test } from 'bun:test';
import { createFreshEvents } from '../../core/kernel/events/consumers/fresh.ts';
import { createDecisions } from '../../core/features/agents/decisions.ts';
import { createRunEnds } from '../../core/features/plugins/inbound/answer.ts';
import { createClock } from '../app.ts';

/** Counts the ended waits without advancing the time. */
async function overOf(waits: readonly Promise<unknown>[]): Promise<number> {
  let over = 0;
  for (const wait of waits) void wait.then(() => over++);
  await new Promise((resolve) => setImmediate(resolve));
  return over;
}
const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

test('a workspace that waits for a thousand runs leaves other workspaces slots', async () => {
  const clock = createClock();
  const ends = createRunEnds(clock);
  const flood = times(1_000, (n) =>
    ends.wait({ workspaceId: 'a', billingAccount: `plg_${n % 4}` }, `run_a${n}`, 1_000),
  );
  expect(await overOf(flood)).toBeGreaterThan(0);
  const own = ends.wait({ workspaceId: 'b', billingAccount: 'plg_b' }, 'run_b', 1_000);
  expect(await overOf([own])).toBe(0);
  ends.note('run_b');
  expect(await overOf([own])).toBe(1);
  clock.advance(1_000);
  expect(await overOf(flood)).toBe(1_000);
  expect(await overOf([ends.wait({ workspaceId: 'a', billingAccount: 'plg_0' }, 'run_again', 1_000)])).toBe(
    0,
  );
});

test('a member whose agents wait for decisions leaves other members of the workspace slots', async () => {
  const clock = createClock();
  const decisions = createDecisions(createFreshEvents(), clock);
  const waitAs = (memberId: string, tokenId: string): Promise<unknown> =>
    decisions.until({ workspaceId: 'a', memberId, tokenId, proposalId: 'prp' }, 0, 1_000);
  const flood = times(100, (n) => waitAs('usr_flood', `key_${n % 10}`));
  expect(await overOf(flood)).toBe(50);
  expect(await overOf([waitAs('usr_other', 'key_other')])).toBe(0);
  clock.advance(1_000);
  expect(await overOf([waitAs('usr_flood', 'key_0')])).toBe(0);
});
