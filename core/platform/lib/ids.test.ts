import { expect, test } from 'bun:test';
import { createIds, idPrefixes, patternOf } from './ids.ts';

const seeded = (): ((bytes: Uint8Array) => void) => {
  let state = 1;
  return (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = (state = (state * 48271) % 2147483647) & 255;
  };
};

test('ids of one process strictly increase, also within a millisecond and when the clock jumps', () => {
  let now = Date.parse('2026-11-20T12:00:00Z');
  const ids = createIds(() => now, seeded());
  let last = '';
  for (let i = 0; i < 120_000; i++) {
    if (i === 40_000) now -= 3_600_000;
    if (i === 80_000) now += 7_200_000;
    const id = ids.next('iss');
    if (!(id > last)) throw new Error(`${id} does not follow ${last}`);
    last = id;
  }
});

test('every entity has its own prefix and a pattern that accepts only its ids', () => {
  const ids = createIds(() => 1_700_000_000_000);
  const prefixes = Object.values(idPrefixes);
  expect(new Set(prefixes).size).toBe(prefixes.length);
  for (const one of prefixes)
    for (const other of prefixes)
      expect(new RegExp(patternOf(one)).test(ids.next(other))).toBe(one === other);
});

test('a UUID has the version, the variant and the time of RFC 9562 Appendix A.6', () => {
  const ids = createIds(() => 1_645_557_742_000);
  expect(ids.uuid()).toMatch(/^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ids.uuid()).not.toBe(ids.uuid());
});

test('the same randomness gives the same ids', () => {
  const [a, b] = [createIds(() => 5, seeded()), createIds(() => 5, seeded())];
  expect([a.next('run'), a.next('event'), a.uuid()]).toEqual([b.next('run'), b.next('event'), b.uuid()]);
});
