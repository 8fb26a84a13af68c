// Recovery codes: for whoever has lost the device that makes the one-time codes. Each has 120 random bits, so that a plain hash of it
// tells nothing (OWASP ASVS 5.0 §6.5.2).
import { createHash, randomBytes } from 'node:crypto';

const count = 10;
/** A letter for each five bits; none that is mistaken for another. */
const letters = '0123456789abcdefghjkmnpqrstvwxyz';
const lettersEach = 24;

export function newRecoveryCodes(): string[] {
  return Array.from({ length: count }, () => {
    const text = Array.from(randomBytes(lettersEach), (byte) => letters[byte & 31]).join('');
    return text.replaceAll(/.{4}(?=.)/g, '$&-');
  });
}

/** @returns null for what is no recovery code; case, spaces and hyphens count for nothing */
export function hashOfRecoveryCode(given: string): string | null {
  const plain = given.toLowerCase().replaceAll(/[\s-]/g, '');
  return plain.length === lettersEach ? createHash('sha256').update(plain).digest('hex') : null;
}
