// How often a person may be guessed at: by account, by where the guesses come from, and for each device that the person has signed in on
// before apart. So whoever guesses at an account uses up what strangers have, and the person goes on signing in on their own devices
// (OWASP, Slow Down Online Guessing Attacks with Device Cookies). Counted in memory: a restart begins anew.
import { LRUCache } from 'lru-cache';

const hourMs = 3_600_000;
/** Failures in a row, and as many in each hour thereafter. */
const failuresAnHour = { account: 10, device: 10, peer: 60 } as const;
/** So many accounts, devices and peers are counted; past that, those not seen for longest begin anew. */
const bucketsMax = 50_000;

/** What an attempt counts against. */
interface Attempt {
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

/** @param nowMs monotonic */
export function createSignInLimits(nowMs: () => number): SignInLimits {
  const buckets = new LRUCache<string, Bucket>({ max: bucketsMax });

  const bucketOf = (key: string, limit: number): Bucket => {
    const now = nowMs();
    const { left, atMs } = buckets.get(key) ?? { left: limit, atMs: now };
    const bucket = { left: Math.min(limit, left + ((now - atMs) * limit) / hourMs), atMs: now };
    buckets.set(key, bucket);
    return bucket;
  };
  const of = ({ subject, peer, device }: Attempt) =>
    device === null
      ? [
          { key: `account ${subject}`, limit: failuresAnHour.account },
          { key: `peer ${peer}`, limit: failuresAnHour.peer },
        ]
      : [{ key: `device ${device}`, limit: failuresAnHour.device }];

  return {
    waitOf(attempt) {
      const waits = of(attempt)
        .map(({ key, limit }) => ((1 - bucketOf(key, limit).left) * hourMs) / limit)
        .filter((ms) => ms > 0);
      return waits.length === 0 ? null : Math.ceil(Math.max(...waits) / 1000);
    },
    take(attempt) {
      const counted = of(attempt).map(({ key, limit }) => bucketOf(key, limit));
      if (counted.some(({ left }) => left < 1)) return false;
      for (const bucket of counted) bucket.left--;
      return true;
    },
    giveBack(attempt) {
      for (const { key, limit } of of(attempt)) {
        const bucket = bucketOf(key, limit);
        bucket.left = Math.min(limit, bucket.left + 1);
      }
    },
  };
}
