import { expect, test } from 'bun:test';
import { createLru } from './lru.ts';

test('the entry that was used least recently is evicted, and a set of a known key evicts none', () => {
  const cache = createLru<string, number>(2);
  cache.set('a', 1).set('b', 2);
  cache.set('b', 3);
  expect([cache.size, cache.get('a')]).toEqual([2, 1]);
  cache.set('c', 4);
  expect([...cache.entries()]).toEqual([
    ['c', 4],
    ['a', 1],
  ]);
  cache.delete('a');
  cache.set('d', 5);
  expect([cache.size, cache.get('c'), cache.get('d')]).toEqual([2, 4, 5]);
});
