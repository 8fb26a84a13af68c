import { expect, test } from 'bun:test';
import { createRoom } from './room.ts';

test('the core rests after long answers, and short ones never wait', () => {
  const room = createRoom({ unitsMax: 1000, backlog: () => 0, onFull: () => undefined });
  expect(room.pauseMs(64 * 1024)).toBe(0);
  expect(room.pauseMs(1000)).toBe(0);
  expect(room.pauseMs(64 * 1024)).toBeGreaterThan(4);
  expect(room.pauseMs(2_000_000)).toBeGreaterThan(10);
});
