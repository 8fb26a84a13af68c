// E-mail addresses as keys: spellings that mail servers or people take for one address have one key.
import { domainToASCII } from 'node:url';

/** Letters of scripts whose letters look like each other's: an address has those of one of them. */
const lookAlike = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u];
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u3164]/u;

/** Folds case (NFKC) and the domain (IDNA); null for what is no address, holds invisible characters or mixes scripts. */
export function addressKey(address: string): string | null {
  const folded = address.normalize('NFKC').toLowerCase().normalize('NFKC');
  const at = folded.lastIndexOf('@');
  const name = folded.slice(0, at);
  const domain = domainToASCII(folded.slice(at + 1));
  if (at < 1 || domain === '' || name.includes('@') || unseen.test(address)) return null;
  const scripts = lookAlike.filter((script) => script.test(name));
  return scripts.length > 1 ? null : `${name}@${domain}`;
}
