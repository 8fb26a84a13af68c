// Which passwords people may choose: long ones, whatever they are made of, but none of those that are tried first.
// OWASP ASVS 5.0 §6.2.1 (length), §6.2.4 (common ones), §6.2.5 (no rules of composition), §6.2.9 (long ones are taken).
import { isCommon } from './common-passwords.ts';

/** Characters as people count them. ASVS asks for 8 at least, and recommends 15. */
export const passwordMin = 12;
export const passwordMax = 128;

/**
 * What is wrong with a password, and what to do; null for a good one.
 * @param about what others know of the person: name, address
 */
export function passwordProblem(password: string, about: readonly string[]): string | null {
  const { length } = [...password];
  if (length < passwordMin)
    return `The password has ${length} characters. Choose one of ${passwordMin} or more: a few words in a row will do.`;
  if (length > passwordMax)
    return `The password is longer than ${passwordMax} characters. Choose a shorter one.`;
  const folded = password.toLowerCase();
  if (isCommon(folded)) return 'This password is one of those that are tried first. Choose another one.';
  if (isMadeOf(folded, about))
    return 'This password is made of your name or address, which others know. Choose another one.';
  return null;
}

/** Whether hardly anything is left of it without what others know. */
function isMadeOf(folded: string, about: readonly string[]): boolean {
  const words = about
    .flatMap((text) => [text, ...text.split(/[\s@.+_-]+/)])
    .map((word) => word.toLowerCase())
    .filter((word) => word.length > 3)
    .toSorted((a, b) => b.length - a.length);
  const rest = words.reduce((left, word) => left.replaceAll(word, ''), folded);
  return rest.length < 4;
}
