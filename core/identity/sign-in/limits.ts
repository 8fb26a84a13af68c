// How often a person may be guessed at: by account, by where the guesses come from, and for each device that the person has signed in on
// before apart. So whoever guesses at an account uses up what strangers have, and the person goes on signing in on their own devices
// (OWASP, Slow Down Online Guessing Attacks with Device Cookies). Counted in memory: a restart begins anew.
import { RecentMap } from '../../lib/fairness/recent-map.ts';

const hourMs = 3_600_000;
/** Failures in a row, and as many in each hour thereafter. */
const failuresAnHour = { account: 10, device: 10, peer: 60 } as const;
/**
 * Buckets of accounts and devices, and as many of peers. A bucket that was not used for an hour is full again, so forgetting it after that
 * changes nothing. To have one forgotten earlier, a guesser needs that many attempts within the hour, more than passwords are compared
 * (one at a time, some 30 ms each).
 */
const bucketsMax = 200_000;

/** What an attempt counts against. */
export interface Attempt {
  /** The account, or the address where there is none of it: a guesser learns nothing from the difference. */
  readonly subject: string;
  readonly peer: string;
  /** A device that signed in to this account before; null for an unknown one. */
  readonly device: string | null;
}

export interface SignInLimits {
  /** Seconds to wait where there is no attempt left; null where there is one. */
  waitOf(attempt: Attempt): number | null;
  /**
   * Takes an attempt before it is known whether it succeeds, so that many at once are no more than one after the other.
   * @returns false where there is none left
   */
  take(attempt: Attempt): boolean;
  /** It succeeded: it is no failure. */
  giveBack(attempt: Attempt): void;
}

interface Bucket {
  left: number;
  atMs: number;
}

/** A bucket under which an attempt counts. */
interface Counted {
  readonly buckets: RecentMap<Bucket>;
  readonly key: string;
  readonly limit: number;
}

/** @param nowMs monotonic */
export function createSignInLimits(nowMs: () => number): SignInLimits & { size(): number } {
  const kept = { ageMs: hourMs, max: bucketsMax };
  // Separate, so that attempts from many addresses evict no bucket of an account.
  const ofPeers = new RecentMap<Bucket>(kept);
  const ofAccounts = new RecentMap<Bucket>(kept);

  const leftOf = ({ buckets, key, limit }: Counted): number => {
    const now = nowMs();
    const bucket = buckets.get(key, now);
    return bucket ? Math.min(limit, bucket.left + ((now - bucket.atMs) * limit) / hourMs) : limit;
  };
  /** A full bucket is the same as none. */
  const setLeft = ({ buckets, key, limit }: Counted, left: number): void => {
    const now = nowMs();
    if (left < limit) buckets.set(key, { left, atMs: now }, now);
    else buckets.delete(key);
  };
  const countedOf = ({ subject, peer, device }: Attempt): Counted[] =>
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
