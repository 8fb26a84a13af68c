// Limits failed sign-ins per account, per client address, and separately per known device. An attacker uses up only the attempts of unknown
// devices, so that the owner can still sign in on a known one (OWASP, Slow Down Online Guessing Attacks with Device Cookies). Counters are
// in memory: a restart resets them.
import { RecentMap } from '../../lib/fairness/recent-map.ts';

const hourMs = 3_600_000;
/** Bucket size, and refill per hour. */
const failuresAnHour = { account: 10, device: 10, peer: 60 } as const;
/**
 * Maximum number of buckets of accounts and devices, and as many of peers. A bucket is full again after an hour without use, so it can be
 * evicted then. To evict one earlier, an attacker needs this many attempts within the hour, more than the server compares (one at a time,
 * about 30 ms each).
 */
const bucketsMax = 200_000;

/** Identifies the buckets of an attempt. */
export interface SignInAttempt {
  /** The account, or the address if no account has it, so that the limit does not disclose whether an account exists. */
  readonly subject: string;
  readonly peer: string;
  /** Known device of the account; null for an unknown one. */
  readonly device: string | null;
}

export interface SignInLimits {
  /** Returns the seconds until the next attempt is allowed; null if one is allowed now. */
  waitOf(attempt: SignInAttempt): number | null;
  /**
   * Takes an attempt before its result is known, so that concurrent attempts cannot exceed the limit.
   * @returns false if no attempt is left
   */
  take(attempt: SignInAttempt): boolean;
  /** Returns the attempt after a success, so that only failures count. */
  giveBack(attempt: SignInAttempt): void;
}

interface Bucket {
  left: number;
  atMs: number;
}

/** A bucket that an attempt counts against. */
interface Counted {
  readonly buckets: RecentMap<Bucket>;
  readonly key: string;
  readonly limit: number;
}

/** @param nowMs monotonic */
export function createSignInLimits(nowMs: () => number): SignInLimits & { size(): number } {
  const bounds = { ageMs: hourMs, max: bucketsMax };
  // Separate maps, so that attempts from many addresses do not evict buckets of accounts.
  const ofPeers = new RecentMap<Bucket>(bounds);
  const ofAccounts = new RecentMap<Bucket>(bounds);

  const leftOf = ({ buckets, key, limit }: Counted): number => {
    const now = nowMs();
    const bucket = buckets.get(key, now);
    return bucket ? Math.min(limit, bucket.left + ((now - bucket.atMs) * limit) / hourMs) : limit;
  };
  /** Deletes a full bucket, which is equivalent to an absent one. */
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
