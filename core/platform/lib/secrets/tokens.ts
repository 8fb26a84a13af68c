// Creates random secrets that are shown once.
import { createHash, randomBytes } from 'node:crypto';

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
  return { token, hash: linkTokenHash(token) };
}

/** Returns the SHA-256 in hex; a slow hash would add nothing, because the token cannot be guessed. */
export function linkTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
