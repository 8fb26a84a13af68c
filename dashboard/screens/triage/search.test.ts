import { expect, test } from 'bun:test';
import { following, snoozeTimes } from './search.ts';

const queue = ['a', 'b', 'c'].map((id) => ({ id }));

test('the next issue follows a decision, and at the end of the queue the one before', () => {
  expect(following(queue, 'a')?.id).toBe('b');
  expect(following(queue, 'c')?.id).toBe('b');
  expect(following([{ id: 'a' }], 'a')).toBeNull();
});

test('next week is the next Monday, also on a Monday', () => {
  const dayOf = (time: string): number => new Date(time).getDay();
  const sunday = new Date(2026, 10, 29, 12);
  const monday = new Date(2026, 10, 30, 12);
  expect(dayOf(snoozeTimes(sunday).week)).toBe(1);
  expect(new Date(snoozeTimes(sunday).week).getDate()).toBe(30);
  expect(new Date(snoozeTimes(monday).week).getDate()).toBe(7);
  expect(new Date(snoozeTimes(monday).tomorrow).getHours()).toBe(9);
});
