// How often a device may ask whether its code was accepted (RFC 8628 §3.5): every five seconds, and five more after each time that it
// asks too soon.
import { LRUCache } from 'lru-cache';
import { hashOf } from '../tokens.ts';

export const pollSeconds = 5;

interface Pace {
  readonly everyMs: number;
  readonly askedAt: number;
}

export interface PollPace {
  /** Notes that a device asks. @returns false where that is too soon */
  admits(deviceCode: string): boolean;
}

export function createPollPace(nowMs: () => number): PollPace {
  const known = new LRUCache<string, Pace>({ max: 10_000 });
  return {
    admits(deviceCode) {
      const key = hashOf(deviceCode);
      const now = nowMs();
      const { everyMs, askedAt } = known.get(key) ?? { everyMs: pollSeconds * 1000, askedAt: -Infinity };
      const isSoon = now - askedAt < everyMs;
      known.set(key, { everyMs: isSoon ? everyMs + pollSeconds * 1000 : everyMs, askedAt: now });
      return !isSoon;
    },
  };
}
