// Creates random secrets that are shown once.
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const checksumLength = 6;

/** Returns a signing secret in the format that both webhook signature schemes accept: `whsec_` + 24 random bytes in base64. */
export function mintSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

/**
 * Returns a bearer token for a link, such as an invitation: 256 random bits, base64url (43 characters), and the hash that is
 * stored instead of it.
 */
export function mintLinkToken(): { readonly token: string; readonly hash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: tokenHash(token) };
}

/** Returns the SHA-256 in hex; a slow hash would add nothing, because the token cannot be guessed. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/**
 * Returns random letters and digits. Drops bytes of 248 (the last multiple of 62) and above, so that all
 * characters are equally likely.
 */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length)
    for (const byte of randomBytes(length))
      if (byte < 248 && text.length < length) text += alphabet[byte % 62];
  return text;
}

/** @returns six letters and digits */
export function checksum(text: string): string {
  let rest = crc32(text);
  let sum = '';
  for (let i = 0; i < checksumLength; i++) {
    sum = alphabet[rest % 62] + sum;
    rest = Math.floor(rest / 62);
  }
  return sum;
}
