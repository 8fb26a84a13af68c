// Caches that are large at most and small as a rule.
import { LRUCache } from 'lru-cache';

/**
 * Returns a cache of the most recently used entries that grows with them. With its own `max`, LRUCache allocates
 * all slots at once: 0.1 ms and 25 bytes a slot at the start of each server, for caches that often stay empty.
 * @param max maximum number of entries
 */
export const createLru = <Key extends {}, Value extends {}>(max: number): LRUCache<Key, Value> =>
  new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
