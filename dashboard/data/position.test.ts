import { expect, test } from 'bun:test';
import { positionBetween } from './position.ts';

test('a position is between its neighbors, and beyond the others at an end', () => {
  expect(positionBetween(1, 2)).toBe(1.5);
  expect(positionBetween(undefined, 0)).toBe(-1);
  expect(positionBetween(undefined, 0.5)).toBe(0);
  expect(positionBetween(2.5, undefined)).toBe(3);
  expect(positionBetween(undefined, undefined)).toBe(0);
});
