// Password policy: a minimum length, no composition rules, no common passwords. OWASP ASVS 5.0 §6.2.1
// (length), §6.2.4 (common passwords), §6.2.5 (no composition rules), §6.2.9 (long passwords are accepted).
import { Worker } from 'node:worker_threads';
import { rateLimited } from '../../platform/lib/errors/errors.ts';
import { createFairPool } from '../../platform/lib/fairness/fair-queue.ts';
import { FairQuota } from '../../platform/lib/fairness/fair-quota.ts';
import { strangerOf } from '../../platform/lib/billing-account.ts';
import type { PasswordResult, PasswordTask } from './password-thread.ts';

/** Minimum length in code points. ASVS requires 8 or more and recommends 15. */
export const passwordMin = 12;
export const passwordMax = 128;

/**
 * Returns an error message for a password that is not allowed; null for an allowed one.
 * @param about public facts about the person: name and address
 */
export function passwordProblem(password: string, about: readonly string[]): string | null {
  const { length } = [...password];
  if (length < passwordMin)
    return `The password has ${length} characters. Choose one with at least ${passwordMin}, such as a few random words.`;
  if (length > passwordMax)
    return `The password is longer than ${passwordMax} characters. Choose a shorter one.`;
  const lowerCased = password.toLowerCase();
  if (isCommon(lowerCased)) return 'This password is too common. Choose another one.';
  if (consistsOf(lowerCased, about))
    return 'This password contains little more than your name or address. Choose another one.';
  return null;
}

/** Returns true if the password has fewer than four characters in addition to the public facts. */
function consistsOf(lowerCased: string, about: readonly string[]): boolean {
  const words = about
    .flatMap((text) => [text, ...text.split(/[\s@.+_-]+/)])
    .map((word) => word.toLowerCase())
    .filter((word) => word.length > 3)
    .toSorted((a, b) => b.length - a.length);
  const rest = words.reduce((left, word) => left.replaceAll(word, ''), lowerCased);
  return rest.length < 4;
}

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

/**
 * Hashes and compares passwords in a thread of low priority, one at a time: each takes 19 MiB and about 40 ms
 * of CPU time, so concurrent sign-ins would slow other requests down. The queue is fair between client addresses.
 * @param slotsMax queue size for all client addresses together
 */
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
    hash: (peer, password) => runQueued(peer, () => passwordThread().hash(normal(password))),
    verify: (peer, password, hash, mayTry) =>
      runQueued(peer, async () => {
        if (!mayTry()) return null;
        const isRight = await passwordThread().verify(normal(password), hash ?? ofNobody);
        return isRight && hash !== null;
      }),
  };
}

interface PasswordThread {
  hash(password: string): Promise<string>;
  verify(password: string, hash: string): Promise<boolean>;
}

/** Thread of the process; undefined until the first password. */
let thread: PasswordThread | undefined;
const passwordThread = (): PasswordThread => (thread ??= startThread());

function startThread(): PasswordThread {
  const worker = new Worker(new URL('./password-thread.ts', import.meta.url));
  const pending = new Map<number, PromiseWithResolvers<PasswordResult>>();
  let tasks = 0;

  const ended = (cause: unknown): void => {
    thread = undefined;
    const error = new Error('The thread that hashes passwords ended.', { cause });
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  };
  worker.on('error', ended);
  worker.on('exit', (code) => ended(new Error(`It ended with code ${code}.`)));
  worker.on('message', (result: PasswordResult) => {
    pending.get(result.id)?.resolve(result);
    pending.delete(result.id);
    if (pending.size === 0) worker.unref();
  });

  const run = (password: string, hash: string | null): Promise<PasswordResult> => {
    const result = Promise.withResolvers<PasswordResult>();
    const id = tasks++;
    pending.set(id, result);
    worker.ref();
    worker.postMessage({ id, password, hash } satisfies PasswordTask);
    return result.promise;
  };
  return {
    async hash(password) {
      const result = await run(password, null);
      if (!('hash' in result)) throw new Error('The thread returned no hash.');
      return result.hash;
    },
    async verify(password, hash) {
      const result = await run(password, hash);
      return 'isRight' in result && result.isRight;
    },
  };
}

/**
 * Applies NFC, so that input from different keyboards compares as equal (NIST SP 800-63B-4 §3.1.1.2), and
 * replaces an empty password, which Bun rejects.
 */
function normal(password: string): string {
  return password.normalize('NFC') || ' ';
}

/** Words that often pad a password to the minimum length. */
const words = [
  'password',
  'passwort',
  'passw0rd',
  'p@ssword',
  'p@ssw0rd',
  'motdepasse',
  'contraseña',
  'contrasena',
  'letmein',
  'welcome',
  'iloveyou',
  'trustno1',
  'changeme',
  'administrator',
  'admin',
  'superman',
  'batman',
  'football',
  'baseball',
  'basketball',
  'liverpool',
  'manchester',
  'princess',
  'sunshine',
  'monkey',
  'dragon',
  'master',
  'secret',
  'starwars',
  'pokemon',
  'computer',
  'internet',
  'chocolate',
  'butterfly',
  'correcthorsebatterystaple',
  'thequickbrownfox',
  'qwerty',
  'tatami',
  'test',
  'hello',
  'login',
  'guest',
  'root',
  'user',
  'demo',
  'love',
  'god',
  'summer',
  'winter',
  'spring',
  'autumn',
];

/** Keyboard patterns and well-known sequences. */
const walks = [
  '12345678901234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  'qazwsxedcrfvtgbyhnujmikolp',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  '!@#$%^&*()_+',
  '!"§$%&/()=?',
];

const ways = [...walks, ...walks.map((walk) => [...walk].toReversed().join(''))].map((way) => way + way);
const walkMin = 4;

/** Maximum number of characters of a common password that belong to no word, pattern, year or separator. */
const restMax = 4;

/**
 * Detects long passwords that are easy to guess. Few leaked passwords have the minimum length, and nearly all
 * of those are a repeated short one, a keyboard pattern or a row of digits, so the structure is checked
 * instead of a list of passwords.
 */
function isCommon(lowerCased: string): boolean {
  if (new Set(lowerCased).size < 5 || isRepeated(lowerCased)) return true;
  const withoutWords = words.reduce((left, word) => left.replaceAll(word, ''), lowerCased);
  return withoutWalks(withoutWords).replaceAll(/(19|20)\d\d|[\d\s!?.,;:_#*+-]/g, '').length <= restMax;
}

/** Returns true if the text repeats one piece of at most half its length. */
function isRepeated(text: string): boolean {
  for (let length = 1; length <= text.length / 2; length++)
    if (
      text
        .slice(0, length)
        .repeat(Math.ceil(text.length / length))
        .startsWith(text)
    )
      return true;
  return false;
}

function withoutWalks(text: string): string {
  let left = '';
  for (let at = 0; at < text.length;) {
    let length = 0;
    while (at + length < text.length && ways.some((way) => way.includes(text.slice(at, at + length + 1))))
      length++;
    if (length < walkMin) left += text[at++];
    else at += length;
  }
  return left;
}
