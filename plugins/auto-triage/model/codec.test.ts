import { expect, test } from 'bun:test';
import {
  encodeLevels,
  frequencyValues,
  levelAt,
  levelCount,
  signedValues,
  toFrequencyLevel,
  toSignedLevel,
} from './codec.ts';

test('every level is decoded to itself, and the text needs no escape in JSON', () => {
  const levels = Array.from({ length: levelCount * 100 }, (_, i) => i % levelCount);
  const text = encodeLevels(levels);
  expect(levels.map((_, i) => levelAt(text, i))).toEqual(levels);
  expect(JSON.stringify(text)).toHaveLength(text.length + 2);
});

test('levels outside the range are clamped', () => {
  const text = encodeLevels([-5, levelCount + 5]);
  expect([levelAt(text, 0), levelAt(text, 1)]).toEqual([0, levelCount - 1]);
});

test('weights keep their sign, with the finest steps near zero', () => {
  for (const value of [-1, -0.3, -0.01, 0, 0.01, 0.3, 1]) {
    const back = signedValues[levelAt(encodeLevels([toSignedLevel(value)]), 0)] ?? NaN;
    expect(Math.sign(back)).toBe(Math.sign(value));
    expect(Math.abs(back - value)).toBeLessThanOrEqual(0.0005 + Math.sqrt(Math.abs(value)) / 45);
  }
});

test('document frequencies up to a thousand are decoded within 5 %', () => {
  for (let frequency = 0; frequency <= 1000; frequency++) {
    const back = frequencyValues[levelAt(encodeLevels([toFrequencyLevel(frequency)]), 0)] ?? NaN;
    expect(Math.abs(back - frequency)).toBeLessThanOrEqual(frequency * 0.05);
  }
});
