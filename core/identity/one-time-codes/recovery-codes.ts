// Recovery codes, for people who lost their authenticator. Each code has 120 random bits, so that a fast hash
// is sufficient (OWASP ASVS 5.0 §6.5.2).
import { createHash, randomBytes } from 'node:crypto';

const count = 10;
/** 32 characters, five bits each, without letters that look like other characters. */
const letters = '0123456789abcdefghjkmnpqrstvwxyz';
const lettersEach = 24;

export function newRecoveryCodes(): string[] {
  return Array.from({ length: count }, () => {
    const text = Array.from(randomBytes(lettersEach), (byte) => letters[byte & 31]).join('');
    return text.replaceAll(/.{4}(?=.)/g, '$&-');
  });
}

/**
 * Ignores case, spaces and hyphens.
 * @returns null for a text without the length of a recovery code
 */
export function hashOfRecoveryCode(code: string): string | null {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, '');
  return plain.length === lettersEach ? createHash('sha256').update(plain).digest('hex') : null;
}
