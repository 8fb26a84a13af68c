// Limits the number of mailed reset links per account and client address.
import { LRUCache } from 'lru-cache';

const hourMs = 3_600_000;
const resetsAnHour = { account: 3, peer: 20 } as const;
const countedMax = 20_000;

export interface ResetLimits {
  /** @returns false if a limit is reached */
  take(address: string, peer: string): boolean;
}

/** @param nowMs monotonic time */
export function createResetLimits(nowMs: () => number): ResetLimits {
  const sent = new LRUCache<string, number[]>({ max: countedMax });
  return {
    take(address, peer) {
      const now = nowMs();
      const counted = Object.entries({ account: address, peer }).map(([name, of]) => {
        const key = `${name} ${of}`;
        const recent = (sent.get(key) ?? []).filter((at) => now - at < hourMs);
        return { key, recent, isFull: recent.length >= resetsAnHour[name as keyof typeof resetsAnHour] };
      });
      if (counted.some(({ isFull }) => isFull)) return false;
      for (const { key, recent } of counted) sent.set(key, [...recent, now]);
      return true;
    },
  };
}
