import { expect, test } from 'bun:test';
import { nextCycle } from './rollover.ts';

const cycle = (id: string, startsAt: string, status: 'upcoming' | 'active' | 'completed', team = 'ENG') => ({
  id,
  startsAt,
  status,
  team,
});

test('the first upcoming cycle of the team takes over unfinished issues', () => {
  const active = cycle('b', '2026-11-09T00:00:00.000Z', 'active');
  const others = [
    cycle('a', '2026-10-26T00:00:00.000Z', 'completed'),
    cycle('d', '2026-12-07T00:00:00.000Z', 'upcoming'),
    cycle('c', '2026-11-23T00:00:00.000Z', 'upcoming'),
    cycle('x', '2026-11-16T00:00:00.000Z', 'upcoming', 'OPS'),
  ];
  expect(nextCycle([active, ...others], active)?.id).toBe('c');
  expect(nextCycle([active, others[0]!, others[3]!], active)).toBeNull();
});
