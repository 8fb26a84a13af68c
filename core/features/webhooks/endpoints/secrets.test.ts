import { expect, test } from 'bun:test';
import { createSealing } from '../../../platform/lib/secrets/sealing.ts';
import { addressField, openAddress, sealAddress, displayAddress, type EndpointAddress } from './secrets.ts';

const sealing = createSealing(Buffer.alloc(32, 1));
const stored = (address: EndpointAddress): string => String(addressField.write!(address));
const read = (column: string) => ({ id: 'whe_1', address: addressField.read!(column) as EndpointAddress });

test('an address with a query is stored encrypted for its own endpoint, and shown without its values', () => {
  const url = 'https://h.example/x?token=s3cret';
  const column = stored(sealAddress(sealing, 'workspace', 'whe_1', url));
  expect(column).not.toContain('s3cret');
  expect(displayAddress(read(column))).toBe('https://h.example/x?token=…');
  expect(openAddress(sealing, 'workspace', read(column))).toBe(url);
  expect(() => openAddress(sealing, 'other', read(column))).toThrow();
  expect(() => openAddress(sealing, 'workspace', { ...read(column), id: 'whe_2' })).toThrow();
});

test('an address without a query is stored unchanged', () => {
  const plain = 'https://h.example/x';
  expect(stored(sealAddress(sealing, 'workspace', 'whe_1', plain))).toBe(plain);
  expect(displayAddress(read(plain))).toBe(plain);
  expect(openAddress(sealing, 'workspace', read(plain))).toBe(plain);
});
