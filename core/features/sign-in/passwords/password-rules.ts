// Password policy: a minimum length, no composition rules, no common passwords.
// OWASP ASVS 5.0 §6.2.1 (length), §6.2.4 (common passwords), §6.2.5 (no composition rules), §6.2.9 (long passwords are accepted).
import { isCommon } from './common-passwords.ts';

/** Minimum length in code points. ASVS requires 8 or more and recommends 15. */
export const passwordMin = 12;
export const passwordMax = 128;

/**
 * Returns an error message for a password that is not allowed; null for an allowed one.
 * @param about public facts about the person: name and address
 */
export function passwordProblem(password: string, about: readonly string[]): string | null {
  const { length } = [...password];
  if (length < passwordMin)
    return `The password has ${length} characters. Choose one with at least ${passwordMin}, such as a few random words.`;
  if (length > passwordMax)
    return `The password is longer than ${passwordMax} characters. Choose a shorter one.`;
  const lowerCased = password.toLowerCase();
  if (isCommon(lowerCased)) return 'This password is too common. Choose another one.';
  if (consistsOf(lowerCased, about))
    return 'This password contains little more than your name or address. Choose another one.';
  return null;
}

/** Returns true if the password has fewer than four characters in addition to the public facts. */
function consistsOf(lowerCased: string, about: readonly string[]): boolean {
  const words = about
    .flatMap((text) => [text, ...text.split(/[\s@.+_-]+/)])
    .map((word) => word.toLowerCase())
    .filter((word) => word.length > 3)
    .toSorted((a, b) => b.length - a.length);
  const rest = words.reduce((left, word) => left.replaceAll(word, ''), lowerCased);
  return rest.length < 4;
}
