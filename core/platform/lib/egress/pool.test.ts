import { expect, test } from 'bun:test';
import { createIdle, IDLE_MAX, IDLE_PER_KEY_MAX, type Resting } from './pool.ts';

interface Fake extends Resting {
  isOpen: boolean;
}

function begin() {
  const idle = createIdle<Fake>();
  const created: Fake[] = [];
  const rest = (key: string): Fake => {
    const connection: Fake = {
      idleSinceMs: 0,
      isOpen: true,
      destroy() {
        connection.isOpen = false;
        idle.remove(key, connection);
      },
    };
    created.push(connection);
    idle.add(key, connection);
    return connection;
  };
  return { idle, rest, openOf: () => created.filter(({ isOpen }) => isOpen).length };
}

test('idle connections never exceed the total limit: the one idle for longest is closed first', () => {
  const { idle, rest, openOf } = begin();
  const first = rest('first');
  const second = rest('second');
  for (let n = 2; n < IDLE_MAX; n++) rest(`host-${n}`);
  expect(openOf()).toBe(IDLE_MAX);
  expect(first.isOpen).toBe(true);

  const last = rest('last');
  expect(openOf()).toBe(IDLE_MAX);
  expect(first.isOpen).toBe(false);
  expect(idle.take('first')).toBeUndefined();
  expect(idle.take('second')).toBe(second);
  expect(idle.take('last')).toBe(last);
  // A taken connection frees its slot.
  rest('another');
  expect(openOf()).toBe(IDLE_MAX + 1);
  idle.stop();
});

test('idle connections are limited per key, the newest is reused first, and none is used twice', () => {
  const { idle, rest, openOf } = begin();
  const resting = Array.from({ length: IDLE_PER_KEY_MAX }, () => rest('one'));
  expect(rest('one').isOpen).toBe(false);
  expect(openOf()).toBe(IDLE_PER_KEY_MAX);
  for (const connection of resting.toReversed()) expect(idle.take('one')).toBe(connection);
  expect(idle.take('one')).toBeUndefined();
  idle.stop();
});
