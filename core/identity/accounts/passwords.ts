// Hashes passwords and compares them, off the event loop and one at a time: each takes 19 MiB and some 30 ms of a processor, so that a
// hundred sign-ins at once would leave nothing for anybody else. Addresses take turns, and each has its share of the waiting places.
import { rateLimited } from '../../lib/errors.ts';
import { createLanes } from '../../lib/fairness/lanes.ts';
import { Shares } from '../../lib/fairness/shares.ts';
import { strangerOf } from '../../lib/payer.ts';

/** argon2id as OWASP's Password Storage Cheat Sheet has it: 19 MiB, two passes, one lane. */
const terms = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

const atOnce = 1;
/** Passwords that are hashed or wait. One address has a quarter of the places at most, some three seconds of work. */
const usualPlacesMax = 400;
const retryAfterSeconds = 5;

/** Of a password that nobody knows, made with the same terms: comparing with it takes as long as with any other. */
const ofNobody =
  '$argon2id$v=19$m=19456,t=2,p=1$L2jK+pTbc1jXNnXYzVt1ToRjX9Itgn1U/vwk2XhkUiY$QKNIZQqPz0XQfeSI9VRxhqUOP3LvXwYhT4J2Q4HlXtA';

export interface Passwords {
  /** In the PHC form. @throws ApiError rate_limited */
  hash(peer: string, password: string): Promise<string>;
  /**
   * Takes as long for an account that there is not, or that has no password.
   * @param hash null for such an account: it is none
   * @param mayTry asked when its turn has come: of many attempts at once, the later ones know how the earlier ones ended
   * @returns null where it may not
   * @throws ApiError rate_limited
   */
  verify(peer: string, password: string, hash: string | null, mayTry: () => boolean): Promise<boolean | null>;
}

/** @param placesMax of all addresses together */
export function createPasswords(placesMax = usualPlacesMax): Passwords {
  const places = new Shares(placesMax);
  const lane = createLanes(atOnce, () => undefined);

  const inTurn = async <T>(peer: string, work: () => Promise<T>): Promise<T> => {
    const sender = strangerOf(peer);
    if (!places.hasRoomFor(sender, 1))
      throw rateLimited(
        'Too many sign-ins from your address wait for their turn. Try again in a few seconds.',
        retryAfterSeconds,
      );
    const freePlace = places.hold(sender, 1);
    try {
      return await lane.run(sender, work);
    } finally {
      freePlace();
    }
  };

  return {
    hash: (peer, password) => inTurn(peer, () => Bun.password.hash(normal(password), terms)),
    verify: (peer, password, hash, mayTry) =>
      inTurn(peer, async () => {
        if (!mayTry()) return null;
        const isRight = await Bun.password.verify(normal(password), hash ?? ofNobody);
        return isRight && hash !== null;
      }),
  };
}

/** The same letters typed on another keyboard are the same password (NIST SP 800-63B-4 §3.1.1.2). Bun takes no empty one. */
function normal(password: string): string {
  return password.normalize('NFC') || ' ';
}
