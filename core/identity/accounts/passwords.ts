// Hashes passwords and compares them, off the event loop and one at a time: each takes 19 MiB and some 30 ms of a processor, so that a
// hundred sign-ins at once would leave nothing for anybody else.
import { ApiError } from '../../lib/errors.ts';

/** argon2id as OWASP's Password Storage Cheat Sheet has it: 19 MiB, two passes, one lane. */
const terms = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

const atOnce = 1;
/** Some six seconds of work. */
const usualWaitingMax = 200;
const retryAfterSeconds = 5;

/** Of a password that nobody knows, made with the same terms: comparing with it takes as long as with any other. */
const ofNobody =
  '$argon2id$v=19$m=19456,t=2,p=1$L2jK+pTbc1jXNnXYzVt1ToRjX9Itgn1U/vwk2XhkUiY$QKNIZQqPz0XQfeSI9VRxhqUOP3LvXwYhT4J2Q4HlXtA';

export interface Passwords {
  /** In the PHC form. @throws ApiError rate_limited */
  hash(password: string): Promise<string>;
  /**
   * Takes as long for an account that there is not, or that has no password.
   * @param hash null for such an account: it is none
   * @param mayTry asked when its turn has come: of many attempts at once, the later ones know how the earlier ones ended
   * @returns null where it may not
   * @throws ApiError rate_limited
   */
  verify(password: string, hash: string | null, mayTry: () => boolean): Promise<boolean | null>;
}

/** @param waitingMax so many wait at the most; who comes then is refused */
export function createPasswords(waitingMax = usualWaitingMax): Passwords {
  const waiting: (() => void)[] = [];
  let running = 0;

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) {
      if (waiting.length >= waitingMax)
        throw new ApiError(
          'rate_limited',
          'Many people sign in at this moment. Try it again in a few seconds.',
          {
            headers: { 'retry-after': String(retryAfterSeconds) },
          },
        );
      await new Promise<void>((resolve) => void waiting.push(resolve));
    } else running++;
    try {
      return await work();
    } finally {
      // Whoever waits takes this place over.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };

  return {
    hash: (password) => inTurn(() => Bun.password.hash(normal(password), terms)),
    verify: (password, hash, mayTry) =>
      inTurn(async () => {
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
