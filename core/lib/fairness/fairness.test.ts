import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Shares } from './shares.ts';
import { Turns } from './turns.ts';

/** Takes until no capacity is left. */
function fill(shares: Shares, group: string, member: string): number {
  let taken = 0;
  for (; shares.room(group, member) > 0; taken++) shares.take(group, member);
  return taken;
}

test('one alone gets half of its group, which gets half of all; whoever comes finds room', () => {
  const shares = new Shares(64);
  expect(shares.room('ws1', 'a')).toBe(16);
  expect(fill(shares, 'ws1', 'a')).toBe(16);
  expect(fill(shares, 'ws1', 'b')).toBeGreaterThan(4);
  for (let member = 0; member < 50; member++) fill(shares, 'ws1', `m${member}`);
  expect(shares.room('ws2', 'a')).toBeGreaterThanOrEqual(8);
});

test('room is never more than there is, and a group without anything has some while any is left', () => {
  const step = fc.record({ group: fc.nat(9), member: fc.nat(4), give: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(step, { maxLength: 200 }), (total, steps) => {
      const shares = new Shares(total);
      const taken = new Map<string, number>();
      for (const { group, member, give } of steps) {
        const key = `${group} ${member}`;
        const has = taken.get(key) ?? 0;
        expect(shares.taken(String(group), String(member))).toBe(has);
        if (give && has > 0) {
          shares.give(String(group), String(member));
          taken.set(key, has - 1);
        } else if (shares.room(String(group), String(member)) > 0) {
          shares.take(String(group), String(member));
          taken.set(key, has + 1);
        }
        const all = [...taken.values()].reduce((sum, count) => sum + count, 0);
        expect(all).toBeLessThanOrEqual(total);
        if (all < total) expect(shares.room('nobody yet', 'x')).toBeGreaterThan(0);
        expect(shares.draft().room('nobody yet', 'x')).toBe(shares.room('nobody yet', 'x'));
      }
    }),
    { seed: 20261121, numRuns: 200 },
  );
});

test('a draft counts on what it was made of, and leaves that alone', () => {
  const shares = new Shares(8);
  shares.take('ws', 'a');
  const draft = shares.draft();
  const room = draft.room('ws', 'a');
  draft.take('ws', 'a');
  expect(draft.room('ws', 'a')).toBeLessThan(room);
  expect(shares.room('ws', 'a')).toBe(room);
});

test('what is held is given back once', () => {
  const shares = new Shares(100);
  const payer = { workspaceId: 'ws', payer: 'key_1' };
  const before = shares.room('ws', 'key_1');
  const giveBack = shares.hold(payer, before);
  expect(shares.hasRoomFor(payer, 1)).toBe(false);
  giveBack();
  giveBack();
  expect(shares.room('ws', 'key_1')).toBe(before);
});

test('groups take turns, members take turns, and what one has waiting stays in order', () => {
  const turns = new Turns<string>();
  for (let index = 0; index < 4; index++) turns.push('ws1', 'a', `a${index}`);
  for (let index = 0; index < 2; index++) turns.push('ws1', 'b', `b${index}`);
  turns.push('ws2', 'c', 'c0');
  expect([turns.waitingOf('ws1'), turns.waitingOfMember('ws1', 'b')]).toEqual([6, 2]);
  const taken: (string | undefined)[] = [];
  while (!turns.isEmpty) taken.push(turns.take(() => true));
  expect(taken).toEqual(['a0', 'c0', 'b0', 'a1', 'b1', 'a2', 'a3']);
  expect(turns.take(() => true)).toBeUndefined();
});

test('who is not admitted keeps the turn and costs the others nothing', () => {
  const turns = new Turns<string>();
  turns.push('ws1', 'a', 'a0');
  turns.push('ws2', 'b', 'b0');
  turns.push('ws2', 'c', 'c0');
  const offered: string[] = [];
  const others = (item: string): boolean => {
    offered.push(item);
    return item !== 'b0';
  };
  expect(turns.take(others, (group) => group !== 'ws1')).toBe('c0');
  expect(offered).toEqual(['b0', 'c0']);
  expect(turns.take(() => true)).toBe('a0');
  expect(turns.clear()).toEqual(['b0']);
});

test('a take costs the same with ten thousand waiting as with ten', () => {
  const microsOf = (waiting: number): number => {
    const turns = new Turns<number>();
    for (let index = 0; index < waiting; index++) turns.push(`ws${index % 50}`, `m${index % 1_000}`, index);
    const before = process.cpuUsage();
    for (let index = 0; index < 10_000; index++) {
      const item = turns.take(() => true)!;
      turns.push(`ws${item % 50}`, `m${item % 1_000}`, item);
    }
    const { user } = process.cpuUsage(before);
    return user / 10_000;
  };
  microsOf(10);
  expect(microsOf(10_000)).toBeLessThan(Math.max(20, microsOf(10) * 20));
});
