// Limits failed sign-ins per account and client address, and separately per known device. Guesses from
// unknown devices do not count for known ones, on which the owner can still sign in (OWASP, Slow Down Online
// Guessing Attacks with Device Cookies). Counters are in memory, so a restart resets them.
import { RecentMap } from '../../platform/lib/fairness/recent-map.ts';

const hourMs = 3_600_000;
/** Bucket size, and refill per hour. */
const failuresAnHour = { account: 10, device: 10, peer: 60 } as const;
/**
 * Maximum number of buckets for accounts and devices together, and for client addresses. A bucket is full
 * again after an hour without use and can then be evicted. To evict one earlier, an attacker needs this many
 * attempts within an hour, more than the server compares (one at a time, about 30 ms each).
 */
const bucketsMax = 200_000;

/** Determines the buckets of an attempt. */
export interface SignInAttempt {
  /**
   * Hash of the address, also for an unknown address, so that the limit does not disclose if an account
   * exists.
   */
  readonly subject: string;
  readonly peer: string;
  /** Identifier of a known device of the account; null for an unknown device. */
  readonly device: string | null;
}

export interface SignInLimits {
  /** Returns the seconds until the next attempt is allowed; null if an attempt is allowed now. */
  waitOf(attempt: SignInAttempt): number | null;
  /**
   * Counts an attempt before the comparison, so that concurrent attempts cannot exceed the limit.
   * @returns false if no attempt is left
   */
  take(attempt: SignInAttempt): boolean;
  /** Reverts `take` after a success, so that only failures count. */
  giveBack(attempt: SignInAttempt): void;
}

interface Bucket {
  left: number;
  atMs: number;
}

/** Bucket that an attempt counts against. */
interface Counted {
  readonly buckets: RecentMap<Bucket>;
  readonly key: string;
  readonly limit: number;
}

/** @param nowMs monotonic time */
export function createSignInLimits(nowMs: () => number): SignInLimits & { size(): number } {
  const bounds = { ageMs: hourMs, max: bucketsMax };
  // Separate maps, so that attempts from many client addresses do not evict the buckets of accounts.
  const ofPeers = new RecentMap<Bucket>(bounds);
  const ofAccounts = new RecentMap<Bucket>(bounds);

  const leftOf = ({ buckets, key, limit }: Counted): number => {
    const now = nowMs();
    const bucket = buckets.get(key, now);
    return bucket ? Math.min(limit, bucket.left + ((now - bucket.atMs) * limit) / hourMs) : limit;
  };
  /** Deletes a full bucket, because an absent bucket counts as full. */
  const setLeft = ({ buckets, key, limit }: Counted, left: number): void => {
    const now = nowMs();
    if (left < limit) buckets.set(key, { left, atMs: now }, now);
    else buckets.delete(key);
  };
  const countedOf = ({ subject, peer, device }: SignInAttempt): Counted[] =>
    device === null
      ? [
          { buckets: ofAccounts, key: `account ${subject}`, limit: failuresAnHour.account },
          { buckets: ofPeers, key: peer, limit: failuresAnHour.peer },
        ]
      : [{ buckets: ofAccounts, key: `device ${device}`, limit: failuresAnHour.device }];

  return {
    size: () => ofPeers.size + ofAccounts.size,
    waitOf(attempt) {
      const waits = countedOf(attempt)
        .map((one) => ((1 - leftOf(one)) * hourMs) / one.limit)
        .filter((ms) => ms > 0);
      return waits.length === 0 ? null : Math.ceil(Math.max(...waits) / 1000);
    },
    take(attempt) {
      const counted = countedOf(attempt);
      if (counted.some((one) => leftOf(one) < 1)) return false;
      for (const one of counted) setLeft(one, leftOf(one) - 1);
      return true;
    },
    giveBack(attempt) {
      for (const one of countedOf(attempt)) setLeft(one, leftOf(one) + 1);
    },
  };
}
