// Text of API keys: `ttm_<prefix>_<secret>` (docs/spec/api.md › Authentication). The prefix is a public
// look-up id. The secret ends in a checksum, so that a mistyped key is rejected without a look-up. Only the
// SHA-256 of the key is stored: 190 random bits need no slower hash.
import { checksum, randomText, tokenHash } from '../../platform/lib/secrets/tokens.ts';

const prefixLength = 10;
const secretLength = 32;

export interface Token {
  readonly prefix: string;
  readonly text: string;
  readonly hash: string;
}

export function mintToken(): Token {
  const prefix = randomText(prefixLength);
  const secret = randomText(secretLength);
  const text = `ttm_${prefix}_${secret}${checksum(`${prefix}_${secret}`)}`;
  return { prefix, text, hash: tokenHash(text) };
}

/** @returns null for a text that is not a key with a valid checksum */
export function prefixOf(text: string): string | null {
  const match = /^ttm_([0-9A-Za-z]{10})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(text);
  if (!match) return null;
  const [, prefix, secret, sum] = match;
  return checksum(`${prefix}_${secret}`) === sum ? prefix! : null;
}

/**
 * Returns the prefix of a key or of `ttm_<prefix>`, without checking the secret.
 * @returns null for other texts
 */
export function publicPartOf(text: string): string | null {
  return /^ttm_([0-9A-Za-z]{10})(?:_|$)/.exec(text)?.[1] ?? null;
}
