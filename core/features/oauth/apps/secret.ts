// Client secrets: `ttms_` and 38 characters, of which the last six are a checksum. Secret scanners recognize
// the prefix, and a mistyped secret is rejected without a look-up. Only the SHA-256 is stored: 190 random
// bits need no slower hash.
import { timingSafeEqual } from 'node:crypto';
import { checksum, randomText, tokenHash } from '../../../platform/lib/secrets/tokens.ts';

const prefix = 'ttms_';
const randomLength = 32;

export interface StoredSecret {
  readonly hash: string;
  /** Milliseconds since the epoch; null for the newest secret, which is valid until the next rotation. */
  readonly expiresAt: number | null;
}

export interface MintedSecret extends StoredSecret {
  readonly text: string;
}

export function mintClientSecret(): MintedSecret {
  const random = randomText(randomLength);
  const text = `${prefix}${random}${checksum(random)}`;
  return { text, hash: tokenHash(text), expiresAt: null };
}

/** Returns true if the text is one of the secrets and has not expired. The comparison takes constant time. */
export function isSecretOf(secrets: readonly StoredSecret[], text: string, nowMs: number): boolean {
  const match = /^ttms_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(text);
  if (!match || checksum(match[1]!) !== match[2]) return false;
  const hash = Buffer.from(tokenHash(text));
  let isGood = false;
  for (const secret of secrets)
    if (timingSafeEqual(hash, Buffer.from(secret.hash)))
      isGood = secret.expiresAt === null || nowMs < secret.expiresAt;
  return isGood;
}
