// Parses IP addresses and CIDRs from configuration, peers and proxies, and normalizes e-mail addresses.
import { domainToASCII, domainToUnicode } from 'node:url';
import ipaddr from 'ipaddr.js';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
export type Cidr = [IpAddress, number];

/** Returns null if the text is not a CIDR such as 10.0.0.0/8. */
export function parseCidr(entry: string): Cidr | null {
  const valid = entry.includes(':')
    ? ipaddr.IPv6.isValidCIDR(entry)
    : ipaddr.IPv4.isValidCIDRFourPartDecimal(entry);
  return valid ? ipaddr.parseCIDR(entry) : null;
}

/** Returns undefined for everything but a plain IP address in a usual notation. */
export function parseAddress(text: string): IpAddress | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  // A zone id selects an interface, so the same text can mean different machines.
  if (text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text)) return ipaddr.IPv6.parse(text);
  return undefined;
}

/** @param hostname as in a `URL`: IPv6 addresses in brackets */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

export function isWithin(address: IpAddress, networks: readonly Cidr[]): boolean {
  return networks.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}

const charsMax = 254;
/** Matches RFC 5322 §3.2.3 `atext`, dots, and non-ASCII characters (RFC 6532 §3.2). */
const localPart = /^[\w.!#$%&'*+/=?^`{|}~\u0080-\u{10ffff}-]+$/u;
const asciiDomain = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;
// oxlint-disable-next-line no-control-regex
const isAscii = /^[\0-\x7f]*$/;

const invisible = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;
const latin = /\p{Script=Latin}/u;
/** Matches a character of a script that may not be mixed with Latin (Unicode TS 39, "highly restrictive"). */
const besidesLatin =
  /[^\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Common}\p{Script=Inherited}]/u;
/** Scripts with letters that look alike; a text without Latin letters may contain only one of them. */
const lookAlikes = [
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
];
/** Lower-case letters of other scripts that look Latin. A text with no other letters reads as Latin. */
const likeLatin = 'асԁеһіјӏоԛрѕуѵхԝαικνορυχϲϳհյոսցօ';
const onlyLikeLatin = new RegExp(
  `^[${likeLatin}\\p{Script=Common}]*[${likeLatin}][${likeLatin}\\p{Script=Common}]*$`,
  'u',
);

/**
 * Returns the key by which accounts, members and invitations are stored and compared: NFC, lower case, the
 * domain in ASCII. Refuses addresses that can be confused with others (Unicode TR 36 §3, TS 39 §5; RFC 6531
 * leaves this to the server). docs/decisions/0074.
 * @returns null for an invalid or confusable address
 */
export function addressKey(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed.length > charsMax || invisible.test(trimmed)) return null;
  // Other servers may map a character with a compatibility or canonical equivalent, such as the Kelvin sign, to another mailbox.
  for (const char of trimmed) if (char.normalize('NFKC') !== char) return null;
  const address = trimmed.normalize('NFC').toLowerCase().replaceAll('ς', 'σ');
  const [local = '', domain = '', ...more] = address.split('@');
  if (more.length > 0 || !localPart.test(local)) return null;
  const ascii = asciiOf(domain);
  return asciiDomain.test(ascii) && !misleads(local, ascii) ? `${local}@${ascii}` : null;
}

/** Instruction for an address that `addressKey` refuses. */
export const addressAdvice =
  'Give an e-mail address such as ana@acme.example, in letters of one script and without invisible characters.';

/** Returns the domain of an `addressKey`. */
export function domainOf(key: string): string {
  return key.slice(key.lastIndexOf('@') + 1);
}

/** @returns '' for an invalid internationalized domain (IDNA) */
function asciiOf(domain: string): string {
  return isAscii.test(domain) && !domain.includes('xn--') ? domain : domainToASCII(domain);
}

function misleads(local: string, ascii: string): boolean {
  const labels = ascii.includes('xn--') ? domainToUnicode(ascii) : ascii;
  const isOfLatinDomain = isAscii.test(labels.slice(labels.lastIndexOf('.') + 1));
  return [local, ...labels.split('.')].some(
    (part) => mixesScripts(part) || (isOfLatinDomain && onlyLikeLatin.test(part)),
  );
}

function mixesScripts(text: string): boolean {
  if (latin.test(text)) return besidesLatin.test(text);
  return lookAlikes.filter((script) => script.test(text)).length > 1;
}
