// Hashes and compares passwords off the event loop, one at a time: each takes 19 MiB and about 30 ms of CPU
// time, so concurrent sign-ins would slow other requests down. The queue is fair between client addresses.
import { rateLimited } from '../../../platform/lib/errors/errors.ts';
import { createFairPool } from '../../../platform/lib/fairness/fair-queue.ts';
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import { strangerOf } from '../../../platform/lib/billing-account.ts';

/** Parameters of OWASP's Password Storage Cheat Sheet for argon2id: 19 MiB, two passes, parallelism 1. */
const terms = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

const atOnce = 1;
/**
 * Queue size, including the running entry. A client address can use a quarter of the queue, about three
 * seconds of work.
 */
const slotsMaxDefault = 400;
const retryAfterSeconds = 5;

/**
 * Hash of a random password that nobody has, so that the comparison for an unknown account takes as long as
 * for a real one.
 */
const ofNobody =
  '$argon2id$v=19$m=19456,t=2,p=1$L2jK+pTbc1jXNnXYzVt1ToRjX9Itgn1U/vwk2XhkUiY$QKNIZQqPz0XQfeSI9VRxhqUOP3LvXwYhT4J2Q4HlXtA';

export interface Passwords {
  /**
   * @returns the hash in PHC format
   * @throws ApiError rate_limited
   */
  hash(peer: string, password: string): Promise<string>;
  /**
   * Compares a password with a hash, in the same time if there is no hash.
   * @param hash null for an account that does not exist or has no password; the result is then false
   * @param mayTry called after the wait in the queue, so that the outcome of earlier attempts counts
   * @returns null if `mayTry` returned false
   * @throws ApiError rate_limited
   */
  verify(peer: string, password: string, hash: string | null, mayTry: () => boolean): Promise<boolean | null>;
}

/** @param slotsMax queue size for all client addresses together */
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

/**
 * Applies NFC, so that input from different keyboards compares as equal (NIST SP 800-63B-4 §3.1.1.2), and
 * replaces an empty password, which Bun rejects.
 */
function normal(password: string): string {
  return password.normalize('NFC') || ' ';
}
