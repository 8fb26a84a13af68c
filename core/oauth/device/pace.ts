// Limits the polling interval of devices (RFC 8628 §3.5) to five seconds, plus five seconds for each early
// poll.
import { LRUCache } from 'lru-cache';
import { hashOf } from '../tokens.ts';

export const pollSeconds = 5;

interface Pace {
  readonly everyMs: number;
  readonly polledAt: number;
}

export interface PollPace {
  /**
   * Records a poll.
   * @returns false if the poll is too early
   */
  admits(deviceCode: string): boolean;
}

export function createPollPace(nowMs: () => number): PollPace {
  const known = new LRUCache<string, Pace>({ max: 10_000 });
  return {
    admits(deviceCode) {
      const key = hashOf(deviceCode);
      const now = nowMs();
      const { everyMs, polledAt } = known.get(key) ?? { everyMs: pollSeconds * 1000, polledAt: -Infinity };
      const isSoon = now - polledAt < everyMs;
      known.set(key, { everyMs: isSoon ? everyMs + pollSeconds * 1000 : everyMs, polledAt: now });
      return !isSoon;
    },
  };
}
