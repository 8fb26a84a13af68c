import { expect, test } from 'bun:test';
import { parseCidr, type Cidr } from '../../../platform/lib/address.ts';
import { peerName } from './request.ts';

const trusted = ['10.0.0.0/8', '127.0.0.1/32', 'fd00::/8'].map((entry) => parseCidr(entry) as Cidr);

test.each<[socket: string, forwardedFor: string | null, peer: string]>([
  // An address that is not trusted cannot name another one.
  ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['203.0.113.9', null, '203.0.113.9'],
  ['10.0.0.1', null, '10.0.0.1'],
  ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
  // Entries on the left were written by the client.
  ['10.0.0.1', '1.2.3.4, 198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', '10.9.9.9, 198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', '1.2.3.4, 198.51.100.1, 10.0.0.7', '198.51.100.1'],
  ['::ffff:127.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['127.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
  ['127.0.0.1', '198.51.100.1:55555', '198.51.100.1'],
  ['127.0.0.1', '[2001:db8:1:2:3::4]:443', '20010db800010002/64'],
  // A trusted proxy that names no client counts as the client, whatever is to its left.
  ['127.0.0.1', '198.51.100.1, unknown', '127.0.0.1'],
  ['127.0.0.1', '198.51.100.1, 0x7f.1', '127.0.0.1'],
  ['127.0.0.1', '198.51.100.1,', '127.0.0.1'],
  ['127.0.0.1', '198.51.100.1, fe80::1%eth0', '127.0.0.1'],
  ['127.0.0.1', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
  // All addresses of one network are one peer.
  ['2001:db8:1:2::1', null, '20010db800010002/64'],
  ['2001:db8:1:2:ffff::2', null, '20010db800010002/64'],
])('a connection from %s with %p has peer %s', (socket, forwardedFor, peer) => {
  expect(peerName(socket, forwardedFor, trusted)).toBe(peer);
});

test('without trusted proxies the header is ignored, and a long one costs little', () => {
  expect(peerName('10.0.0.1', '198.51.100.1', [])).toBe('10.0.0.1');
  const long = Array.from({ length: 100_000 }, (_, i) => `10.1.${i % 250}.1`).join();
  expect(peerName('10.0.0.1', `198.51.100.1,${long}`, trusted)).toMatch(/^10\.1\./);
  expect(peerName('local', null, trusted)).toBe('local');
});
