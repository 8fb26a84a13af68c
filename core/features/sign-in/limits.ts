// Limits failed sign-ins per account and client address, and separately per known device. Guesses from
// unknown devices do not count for known ones, on which the owner can still sign in (OWASP, Slow Down Online
// Guessing Attacks with Device Cookies). Counters are in memory, so a restart resets them.
import { hourMs } from '../../platform/lib/time/time.ts';
import { RecentMap } from '../../platform/lib/fairness/recent-map.ts';
import { randomBytes } from 'node:crypto';
import { cookieLine, cookieOf } from '../../kernel/html.ts';
import type { Sealing } from '../../platform/lib/secrets/sealing.ts';
import { createLru } from '../../platform/lib/lru.ts';

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
  refund(attempt: SignInAttempt): void;
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
    refund(attempt) {
      for (const one of countedOf(attempt)) setLeft(one, leftOf(one) + 1);
    },
  };
}

/**
 * Cookie of a known device: lists the accounts that have signed in with the browser, so that failures on it
 * are counted separately. The cookie does not sign in. Each entry is signed for its account.
 */
const cookie = 'tatami-device';
const purpose = 'device';
/** Maximum lifetime that browsers allow for a cookie (RFC 6265bis §5.5). */
const cookieSeconds = 400 * 86_400;
/** Maximum number of accounts in the cookie; the most recent ones remain. */
const accountsMax = 5;
const nonceBytes = 16;

/**
 * @returns an identifier of the device if the cookie proves an earlier sign-in to the account; null otherwise
 */
export function deviceOf(sealing: Sealing, headers: Headers, accountId: string): string | null {
  const [nonce = '', ...tags] = partsOf(headers);
  const text = `${nonce} ${accountId}`;
  return tags.some((tag) => sealing.verify(text, purpose, tag)) ? text : null;
}

/** Returns the `Set-Cookie` line that makes the browser a known device of the account. */
export function rememberDevice(sealing: Sealing, headers: Headers, accountId: string): string {
  const [known, ...tags] = partsOf(headers);
  const nonce = known ?? randomBytes(nonceBytes).toString('base64url');
  const mine = sealing.sign(`${nonce} ${accountId}`, purpose);
  const retained = [mine, ...tags.filter((tag) => tag !== mine)].slice(0, accountsMax);
  return cookieLine(cookie, [nonce, ...retained].join('.'), cookieSeconds);
}

function partsOf(headers: Headers): string[] {
  const value = cookieOf(headers, cookie);
  return value !== null && /^[\w-]{22}(\.[\w-]{22}){1,5}$/.test(value) ? value.split('.') : [];
}

const resetsAnHour = { account: 3, peer: 20 } as const;
const countedMax = 20_000;

/** Limits the mailed reset links per account and client address. */
export interface ResetLimits {
  /** @returns false if a limit is reached */
  take(address: string, peer: string): boolean;
}

/** @param nowMs monotonic time */
export function createResetLimits(nowMs: () => number): ResetLimits {
  const sent = createLru<string, number[]>(countedMax);
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
