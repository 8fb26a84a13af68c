// The secrets of confidential apps: `ttms_` and 38 letters, the last six a checksum, so that scanners of code recognise one and a
// mistyped one is refused without a look-up. Only SHA-256 is kept: with 190 random bits, nothing slower is needed.
import { timingSafeEqual } from 'node:crypto';
import { checksum, hashToken, randomText } from '../api-keys/token.ts';

const prefix = 'ttms_';
const randomLength = 32;

/** A secret at rest. */
export interface KeptSecret {
  readonly hash: string;
  /** Milliseconds since the epoch; null for the newest, which is good until it is replaced. */
  readonly expiresAt: number | null;
}

export interface MintedSecret extends KeptSecret {
  readonly text: string;
}

export function mintClientSecret(): MintedSecret {
  const random = randomText(randomLength);
  const text = `${prefix}${random}${checksum(random)}`;
  return { text, hash: hashToken(text), expiresAt: null };
}

/** Whether a text is one of the secrets, and that is good still. In a time that does not depend on which. */
export function isSecretOf(secrets: readonly KeptSecret[], text: string, nowMs: number): boolean {
  const match = /^ttms_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(text);
  if (!match || checksum(match[1]!) !== match[2]) return false;
  const hash = Buffer.from(hashToken(text));
  let isGood = false;
  for (const secret of secrets)
    if (timingSafeEqual(hash, Buffer.from(secret.hash)))
      isGood = secret.expiresAt === null || nowMs < secret.expiresAt;
  return isGood;
}
