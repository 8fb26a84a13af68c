// The structures of fairness, each on its own: whose turn it is, how much each may hold, and that the loop looks up in between.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createFairQueue, type Owner } from './fair-queue.ts';
import { createShares } from './shares.ts';
import { createTurns } from './turns.ts';

const owner = (workspaceId: string, payer: string | null = null): Owner => ({ workspaceId, payer });

test('a queue goes round the workspaces, and in each round its payers', () => {
  const queue = createFairQueue<string>();
  for (let n = 0; n < 3; n++) queue.push(owner('a', 'x'), `ax${n}`);
  for (let n = 0; n < 2; n++) queue.push(owner('a', 'y'), `ay${n}`);
  queue.push(owner('b'), 'b0');
  expect(queue.waiting(owner('a', 'x'))).toEqual({ workspace: 5, payer: 3 });
  const order: string[] = [];
  for (let next = queue.shift(); next; next = queue.shift()) order.push(next.item);
  expect(order).toEqual(['ax0', 'b0', 'ay0', 'ax1', 'ay1', 'ax2']);
  expect([queue.size, queue.shift()]).toEqual([0, undefined]);
});

test('nothing is lost or doubled, and who may go is never passed over for long', () => {
  const who = fc.record({
    workspaceId: fc.constantFrom('a', 'b', 'c'),
    payer: fc.constantFrom('x', 'y', null),
  });
  fc.assert(
    fc.property(fc.array(fc.oneof(who, fc.constant(null)), { maxLength: 60 }), (steps) => {
      const queue = createFairQueue<number>();
      const waiting = new Set<number>();
      steps.forEach((step, n) => {
        if (step) {
          queue.push(step, n);
          waiting.add(n);
        } else {
          const mayGo = ({ workspaceId }: Owner): boolean => workspaceId !== 'c';
          const next = queue.shift(mayGo);
          if (next)
            expect([waiting.delete(next.item), next.owner.workspaceId === 'c']).toEqual([true, false]);
        }
        expect(queue.size).toBe(waiting.size);
      });
      for (let next = queue.shift(); next; next = queue.shift()) waiting.delete(next.item);
      expect([...waiting]).toEqual([]);
    }),
    { seed: 20261122 },
  );
});

test('nobody takes all of a share, whoever is there already', () => {
  const shares = createShares(1_000);
  const fill = (of: Owner): number => {
    let held = 0;
    while (shares.hasRoom(of, 10)) {
      shares.hold(of, 10);
      held += 10;
    }
    return held;
  };
  expect(fill(owner('a', 'x'))).toBe(200);
  expect(fill(owner('a', 'y'))).toBeGreaterThan(100);
  const others = ['b', 'c', 'd', 'e'].map((id) => fill(owner(id, 'x')));
  for (const held of others) expect(held).toBeGreaterThan(40);
  expect(others.every((held, n) => n === 0 || held <= others[n - 1]!)).toBe(true);
  const release = shares.hold(owner('z'), 5);
  release();
  release();
  expect(shares.hasRoom(owner('z'), 5)).toBe(true);
});

test('work in turns is charged, rejects with what it throws, and lets the loop look up', async () => {
  const charged: (string | null)[] = [];
  const turns = createTurns(({ payer }) => void charged.push(payer));
  const spin = (ms: number): void => {
    for (const until = performance.now() + ms; performance.now() < until;);
  };
  let looks = 0;
  const timer = setInterval(() => looks++, 0);
  const flood = Array.from({ length: 40 }, () => turns.run(owner('a', 'x'), () => spin(3)));
  const mine = turns.run(owner('b', 'y'), () => charged.length);
  await expect(turns.run(owner('b', 'y'), () => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
  expect(await mine).toBeLessThanOrEqual(2);
  await Promise.all(flood);
  clearInterval(timer);
  expect(looks).toBeGreaterThan(10);
  expect(charged.filter((payer) => payer === 'x')).toHaveLength(40);
});
