// The fair queue on the event loop charges work and yields to the loop in between.
import { expect, test } from 'bun:test';
import { createLoopQueue } from './loop-turns.ts';

const payer = (workspaceId: string, name: string) => ({ workspaceId, payer: name });

test('work in turns is charged, rejects with what it throws, and lets the loop look up', async () => {
  const charged: (string | null)[] = [];
  const loopQueue = createLoopQueue(({ payer }) => void charged.push(payer));
  const spin = (ms: number): void => {
    for (const until = performance.now() + ms; performance.now() < until;);
  };
  let looks = 0;
  const timer = setInterval(() => looks++, 0);
  const flood = Array.from({ length: 40 }, () => loopQueue.run(payer('a', 'x'), () => spin(3)));
  const mine = loopQueue.run(payer('b', 'y'), () => charged.length);
  await expect(loopQueue.run(payer('b', 'y'), () => Promise.reject(new Error('mine')))).rejects.toThrow(
    'mine',
  );
  expect(await mine).toBeLessThanOrEqual(2);
  await Promise.all(flood);
  clearInterval(timer);
  expect(looks).toBeGreaterThan(10);
  expect(charged.filter((payer) => payer === 'x')).toHaveLength(40);
});

test('where a turn breaks, those who wait are told, and later ones get theirs', async () => {
  let isBroken = true;
  const loopQueue = createLoopQueue(() => {
    if (isBroken) throw new Error('the ledger is broken');
  });
  const first = loopQueue.run(payer('a', 'x'), () => 'done');
  let received: unknown = null;
  loopQueue
    .run(payer('b', 'y'), () => 'never')
    .catch((error: unknown) => {
      received = error;
    });
  expect(await first).toBe('done');
  await new Promise((resolve) => setImmediate(resolve));
  expect(received).toEqual(new Error('the ledger is broken'));
  isBroken = false;
  expect(await loopQueue.run(payer('b', 'y'), () => 'again')).toBe('again');
});
