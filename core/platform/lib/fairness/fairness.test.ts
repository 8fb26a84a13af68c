import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { FairQuota } from './fair-quota.ts';
import { FairQueue } from './fair-queue.ts';

/** Takes until no capacity is left. */
function fill(quota: FairQuota, group: string, member: string): number {
  let taken = 0;
  for (; quota.remaining(group, member) > 0; taken++) quota.take(group, member);
  return taken;
}

test('a single member gets half of its group, which gets half of the total; a newcomer finds capacity', () => {
  const quota = new FairQuota(64);
  expect(quota.remaining('ws1', 'a')).toBe(16);
  expect(fill(quota, 'ws1', 'a')).toBe(16);
  expect(fill(quota, 'ws1', 'b')).toBeGreaterThan(4);
  for (let member = 0; member < 50; member++) fill(quota, 'ws1', `m${member}`);
  expect(quota.remaining('ws2', 'a')).toBeGreaterThanOrEqual(8);
});

test('capacity never exceeds the total, and a group without usage gets some while any is left', () => {
  const step = fc.record({ group: fc.nat(9), member: fc.nat(4), give: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(step, { maxLength: 200 }), (total, steps) => {
      const quota = new FairQuota(total);
      const taken = new Map<string, number>();
      for (const { group, member, give } of steps) {
        const key = `${group} ${member}`;
        const has = taken.get(key) ?? 0;
        expect(quota.taken(String(group), String(member))).toBe(has);
        if (give && has > 0) {
          quota.give(String(group), String(member));
          taken.set(key, has - 1);
        } else if (quota.remaining(String(group), String(member)) > 0) {
          quota.take(String(group), String(member));
          taken.set(key, has + 1);
        }
        const all = [...taken.values()].reduce((sum, count) => sum + count, 0);
        expect(all).toBeLessThanOrEqual(total);
        if (all < total) expect(quota.remaining('nobody yet', 'x')).toBeGreaterThan(0);
        expect(quota.draft().remaining('nobody yet', 'x')).toBe(quota.remaining('nobody yet', 'x'));
      }
    }),
    { seed: 20261121, numRuns: 200 },
  );
});

test('a draft starts from the current counts and does not change them', () => {
  const quota = new FairQuota(8);
  quota.take('ws', 'a');
  const draft = quota.draft();
  const remaining = draft.remaining('ws', 'a');
  draft.take('ws', 'a');
  expect(draft.remaining('ws', 'a')).toBeLessThan(remaining);
  expect(quota.remaining('ws', 'a')).toBe(remaining);
});

test('a slot is released only once', () => {
  const quota = new FairQuota(100);
  const billingAccount = { workspaceId: 'ws', billingAccount: 'key_1' };
  const before = quota.remaining('ws', 'key_1');
  const release = quota.reserve(billingAccount, before);
  expect(quota.hasCapacityFor(billingAccount, 1)).toBe(false);
  release();
  release();
  expect(quota.remaining('ws', 'key_1')).toBe(before);
});

test('groups alternate, members alternate, and the queue of one member stays in order', () => {
  const fairQueue = new FairQueue<string>();
  for (let index = 0; index < 4; index++) fairQueue.push('ws1', 'a', `a${index}`);
  for (let index = 0; index < 2; index++) fairQueue.push('ws1', 'b', `b${index}`);
  fairQueue.push('ws2', 'c', 'c0');
  expect([fairQueue.waitingOf('ws1'), fairQueue.waitingOfMember('ws1', 'b')]).toEqual([6, 2]);
  const taken: (string | undefined)[] = [];
  while (!fairQueue.isEmpty) taken.push(fairQueue.take(() => true));
  expect(taken).toEqual(['a0', 'c0', 'b0', 'a1', 'b1', 'a2', 'a3']);
  expect(fairQueue.take(() => true)).toBeUndefined();
});

test('a rejected member stays next in line and delays nobody else', () => {
  const fairQueue = new FairQueue<string>();
  fairQueue.push('ws1', 'a', 'a0');
  fairQueue.push('ws2', 'b', 'b0');
  fairQueue.push('ws2', 'c', 'c0');
  const offered: string[] = [];
  const others = (item: string): boolean => {
    offered.push(item);
    return item !== 'b0';
  };
  expect(fairQueue.take(others, (group) => group !== 'ws1')).toBe('c0');
  expect(offered).toEqual(['b0', 'c0']);
  expect(fairQueue.take(() => true)).toBe('a0');
  expect(fairQueue.clear()).toEqual(['b0']);
});

test('taking a slot costs the same with ten thousand entries as with ten', () => {
  const microsOf = (waiting: number): number => {
    const fairQueue = new FairQueue<number>();
    for (let index = 0; index < waiting; index++)
      fairQueue.push(`ws${index % 50}`, `m${index % 1_000}`, index);
    const before = process.cpuUsage();
    for (let index = 0; index < 10_000; index++) {
      const item = fairQueue.take(() => true)!;
      fairQueue.push(`ws${item % 50}`, `m${item % 1_000}`, item);
    }
    const { user } = process.cpuUsage(before);
    return user / 10_000;
  };
  microsOf(10);
  expect(microsOf(10_000)).toBeLessThan(Math.max(20, microsOf(10) * 20));
});
