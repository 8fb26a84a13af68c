import { expect, test } from 'bun:test';
import { createLoopQueue } from './loop-queue.ts';

const billingAccount = (workspaceId: string, name: string) => ({ workspaceId, billingAccount: name });

test('queued work is charged, rejects with its error, and yields to the event loop', async () => {
  const charged: (string | null)[] = [];
  const loopQueue = createLoopQueue(({ billingAccount }) => void charged.push(billingAccount));
  const spin = (ms: number): void => {
    for (const until = performance.now() + ms; performance.now() < until;);
  };
  let looks = 0;
  const timer = setInterval(() => looks++, 0);
  const flood = Array.from({ length: 40 }, () => loopQueue.run(billingAccount('a', 'x'), () => spin(3)));
  const mine = loopQueue.run(billingAccount('b', 'y'), () => charged.length);
  await expect(
    loopQueue.run(billingAccount('b', 'y'), () => Promise.reject(new Error('mine'))),
  ).rejects.toThrow('mine');
  expect(await mine).toBeLessThanOrEqual(2);
  await Promise.all(flood);
  clearInterval(timer);
  expect(looks).toBeGreaterThan(10);
  expect(charged.filter((billingAccount) => billingAccount === 'x')).toHaveLength(40);
});

test('a failing queue rejects the waiting work, and later work runs', async () => {
  let isBroken = true;
  const loopQueue = createLoopQueue(() => {
    if (isBroken) throw new Error('the ledger is broken');
  });
  const first = loopQueue.run(billingAccount('a', 'x'), () => 'done');
  let received: unknown = null;
  loopQueue
    .run(billingAccount('b', 'y'), () => 'never')
    .catch((error: unknown) => {
      received = error;
    });
  expect(await first).toBe('done');
  await new Promise((resolve) => setImmediate(resolve));
  expect(received).toEqual(new Error('the ledger is broken'));
  isBroken = false;
  expect(await loopQueue.run(billingAccount('b', 'y'), () => 'again')).toBe('again');
});
