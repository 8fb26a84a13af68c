// The text of what is given out: `tta_` access tokens, `ttr_` refresh tokens, each with 256
// random bits, so that scanners for leaked secrets know them by their beginning.
import { randomBytes } from 'node:crypto';

const prefixes: Readonly<Record<string, string>> = {
  AccessToken: 'tta_',
  RefreshToken: 'ttr_',
};

/** @returns null for a kind whose text is nobody's to keep */
export function mintText(kind: string): string | null {
  const prefix = prefixes[kind];
  return prefix === undefined ? null : prefix + randomBytes(32).toString('base64url');
}

export function looksIssued(kind: string, text: string): boolean {
  return text.startsWith(prefixes[kind] ?? ' ') && text.length === 47;
}
