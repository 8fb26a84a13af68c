// The form of a secret that both schemes of webhook signatures read.
import { randomBytes } from 'node:crypto';

/** `whsec_` + 24 random bytes in base64. */
export function mintSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}
