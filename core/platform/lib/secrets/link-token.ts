// Bearer tokens in links, such as invitations. The token is shown once; only its hash is stored.
import { createHash, randomBytes } from 'node:crypto';

/** Returns a token of 256 random bits, base64url (43 characters), and its hash. */
export function mintLinkToken(): { readonly token: string; readonly hash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: linkTokenHash(token) };
}

/** Returns the SHA-256 in hex; a slow hash would add nothing, because the token cannot be guessed. */
export function linkTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
