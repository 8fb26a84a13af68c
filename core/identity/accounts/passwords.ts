// Hashes and compares passwords off the event loop, one at a time: each takes 19 MiB and about 30 ms of CPU time, so that many sign-ins at
// once would starve other requests. The queue is fair between client addresses, and each address has a quota of it.
import { rateLimited } from '../../lib/errors.ts';
import { createFairPool } from '../../lib/fairness/fair-pool.ts';
import { FairQuota } from '../../lib/fairness/fair-quota.ts';
import { strangerOf } from '../../lib/billing-account.ts';

/** argon2id parameters of OWASP's Password Storage Cheat Sheet: 19 MiB, two passes, one lane. */
const terms = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

const atOnce = 1;
/** Queue size, including the running entry. One address has a quarter of it at most, about three seconds of work. */
const slotsMaxDefault = 400;
const retryAfterSeconds = 5;

/** Hash of an unknown random password with the same parameters, so that a comparison takes as long as for a real account. */
const ofNobody =
  '$argon2id$v=19$m=19456,t=2,p=1$L2jK+pTbc1jXNnXYzVt1ToRjX9Itgn1U/vwk2XhkUiY$QKNIZQqPz0XQfeSI9VRxhqUOP3LvXwYhT4J2Q4HlXtA';

export interface Passwords {
  /** Returns the hash in PHC format. @throws ApiError rate_limited */
  hash(peer: string, password: string): Promise<string>;
  /**
   * Takes the same time for an account that does not exist or has no password.
   * @param hash null for such an account; the result is then false
   * @param mayTry called when the attempt leaves the queue, so that it sees the outcome of earlier attempts
   * @returns null if `mayTry` returned false
   * @throws ApiError rate_limited
   */
  verify(peer: string, password: string, hash: string | null, mayTry: () => boolean): Promise<boolean | null>;
}

/** @param slotsMax queue size for all addresses together */
export function createPasswords(slotsMax = slotsMaxDefault): Passwords {
  const slots = new FairQuota(slotsMax);
  const fairPool = createFairPool(atOnce, () => undefined);

  const runQueued = async <T>(peer: string, work: () => Promise<T>): Promise<T> => {
    const sender = strangerOf(peer);
    if (!slots.hasCapacityFor(sender, 1))
      throw rateLimited(
        'Too many sign-ins from your address are in progress. Try again in a few seconds.',
        retryAfterSeconds,
      );
    const releaseSlot = slots.reserve(sender, 1);
    try {
      return await fairPool.run(sender, work);
    } finally {
      releaseSlot();
    }
  };

  return {
    hash: (peer, password) => runQueued(peer, () => Bun.password.hash(normal(password), terms)),
    verify: (peer, password, hash, mayTry) =>
      runQueued(peer, async () => {
        if (!mayTry()) return null;
        const isRight = await Bun.password.verify(normal(password), hash ?? ofNobody);
        return isRight && hash !== null;
      }),
  };
}

/** NFC makes the same characters from different keyboards equal (NIST SP 800-63B-4 §3.1.1.2). Bun rejects an empty password. */
function normal(password: string): string {
  return password.normalize('NFC') || ' ';
}
