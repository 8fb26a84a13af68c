// The text of what is given out: `tta_` access tokens, `ttr_` refresh tokens, each with 256
// random bits, so that scanners for leaked secrets know them by their beginning.
import { randomBytes } from 'node:crypto';

const prefixes = { AccessToken: 'tta_', RefreshToken: 'ttr_' } as const;

export function mintText(kind: keyof typeof prefixes): string {
  return prefixes[kind] + randomBytes(32).toString('base64url');
}

export function looksIssued(kind: keyof typeof prefixes, text: string): boolean {
  return text.startsWith(prefixes[kind]) && text.length === 47;
}
