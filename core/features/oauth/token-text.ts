// Token format: `tta_` (access) or `ttr_` (refresh), which secret scanners recognize, and 256 random bits.
import { randomBytes } from 'node:crypto';

const prefixes = { AccessToken: 'tta_', RefreshToken: 'ttr_' } as const;

export function mintText(tokenType: keyof typeof prefixes): string {
  return prefixes[tokenType] + randomBytes(32).toString('base64url');
}

export function looksIssued(tokenType: keyof typeof prefixes, text: string): boolean {
  return text.startsWith(prefixes[tokenType]) && text.length === 47;
}
