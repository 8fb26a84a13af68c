import { expect, test } from 'bun:test';
import type { BillingAccount } from '../billing-account.ts';
import { createFairPool } from './fair-queue.ts';

const accountOf = (workspaceId: string): BillingAccount => ({ workspaceId, billingAccount: 'key_1' });

test('an account with a long queue does not block others, and the concurrency limit holds', async () => {
  const charged = new Map<string, number>();
  const fairPool = createFairPool(
    2,
    ({ workspaceId }) => void charged.set(workspaceId, (charged.get(workspaceId) ?? 0) + 1),
  );
  const done: string[] = [];
  let running = 0;
  let most = 0;
  const work = (name: string) => async (): Promise<void> => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    done.push(name);
  };
  const loud = Array.from({ length: 20 }, (_, n) => fairPool.run(accountOf('loud'), work(`loud ${n}`)));
  const failing = fairPool.run(accountOf('broken'), () => Promise.reject(new Error('broken')));
  const quiet = fairPool.run(accountOf('quiet'), work('quiet'));
  expect(await failing.catch((error: Error) => error.message)).toBe('broken');
  await Promise.all([...loud, quiet]);
  expect(done.indexOf('quiet')).toBeLessThan(6);
  expect([done.length, most]).toEqual([21, 2]);
  expect(charged).toEqual(
    new Map([
      ['loud', 20],
      ['broken', 1],
      ['quiet', 1],
    ]),
  );
});
