import { expect, test } from 'bun:test';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { ApiError } from '../errors/errors.ts';
import { sealedFor, createSealing } from './sealing.ts';

const sealing = createSealing(new Uint8Array(32).fill(7));
const one = sealedFor('webhook-secret', 'ws', 'whe_1');
const other = createSealing(new Uint8Array(32).fill(8));

test('a sealed text opens only for its purpose and key, and never contains its plain text', () => {
  const sealed = sealing.seal('whsec_tell-nobody', one);
  expect(sealing.open(sealed, one)).toBe('whsec_tell-nobody');
  expect(Buffer.from(sealed).includes('tell-nobody')).toBe(false);
  expect(sealing.seal('whsec_tell-nobody', one)).not.toEqual(sealed);
  expect(() => sealing.open(sealed, sealedFor('webhook-secret', 'ws', 'whe_2'))).toThrow();
  expect(() => other.open(sealed, one)).toThrow();
  for (let at = 0; at < sealed.length; at++) {
    const altered = sealed.slice();
    altered[at]! ^= 1;
    expect(() => sealing.open(altered, one)).toThrow();
  }
  for (const length of [0, 11, 12, 27, 28, sealed.length - 1])
    expect(() => sealing.open(sealed.slice(0, length), one)).toThrow();
});

test('a master key of another length is rejected', () => {
  for (const length of [0, 16, 31, 33])
    expect(() => createSealing(new Uint8Array(length))).toThrow('32 bytes');
});

test('a cursor is decoded unchanged, and only for its own list', () => {
  for (const values of [[], ['a', 1, 2.5, null], ['Ärger 💥 "quoted"', -0.1]]) {
    const cursor = encodeCursor(sealing, 'list 1', values);
    expect(decodeCursor(sealing, 'list 1', cursor)).toEqual(values);
    for (const read of [
      () => decodeCursor(sealing, 'list 2', cursor),
      () => decodeCursor(other, 'list 1', cursor),
      () => decodeCursor(sealing, 'list 1', `${cursor}=`),
      () => decodeCursor(sealing, 'list 1', ''),
      () => decodeCursor(sealing, 'list 1', '.'),
    ])
      expect(read).toThrow(ApiError);
  }
});
