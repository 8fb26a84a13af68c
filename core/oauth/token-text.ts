// Token format: `tta_` for access tokens and `ttr_` for refresh tokens, so that secret scanners recognise them, and 256 random bits.
import { randomBytes } from 'node:crypto';

const prefixes = { AccessToken: 'tta_', RefreshToken: 'ttr_' } as const;

export function mintText(kind: keyof typeof prefixes): string {
  return prefixes[kind] + randomBytes(32).toString('base64url');
}

export function looksIssued(kind: keyof typeof prefixes, text: string): boolean {
  return text.startsWith(prefixes[kind]) && text.length === 47;
}
