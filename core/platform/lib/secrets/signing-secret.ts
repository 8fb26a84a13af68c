// Signing secrets in the format that both webhook signature schemes accept.
import { randomBytes } from 'node:crypto';

/** Returns `whsec_` + 24 random bytes in base64. */
export function mintSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}
