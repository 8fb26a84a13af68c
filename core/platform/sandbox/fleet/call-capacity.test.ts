import { expect, test } from 'bun:test';
import { createCallCapacity } from './sending.ts';

test('the core pauses after long responses, and short ones never wait', () => {
  const callCapacity = createCallCapacity({ unitsMax: 1000, backlog: () => 0, onFull: () => undefined });
  expect(callCapacity.pauseMs(64 * 1024)).toBe(0);
  expect(callCapacity.pauseMs(1000)).toBe(0);
  expect(callCapacity.pauseMs(64 * 1024)).toBeGreaterThan(4);
  expect(callCapacity.pauseMs(2_000_000)).toBeGreaterThan(10);
});
