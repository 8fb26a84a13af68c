// Tokens that stand in a link: whoever has the link may do what it is for. Shown once; what is kept is the hash.
import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits, base64url: 43 characters. */
export function mintLinkToken(): { readonly token: string; readonly hash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: linkTokenHash(token) };
}

/** SHA-256 in hex: of what nobody can guess, a slow hash would hide nothing more. */
export function linkTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
