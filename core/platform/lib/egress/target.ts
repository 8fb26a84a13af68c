/**
 * Parses a URL unambiguously or refuses it. The WHATWG parser turns `0177.1`, `2130706433` and `ⓔxample.com` into other hosts, and
 * other programs read them differently, so approval of the text would not cover the actual host. Only canonical forms are accepted
 * (RFC 3986 §3.2, RFC 1123 §2.1).
 */
import ipaddr from 'ipaddr.js';
import { EgressError } from './error.ts';

export interface Target {
  secure: boolean;
  /** Lower case; an IPv6 literal without brackets. */
  host: string;
  isLiteral: boolean;
  port: number;
  /** Path and query, percent-encoded, as in the request line. */
  path: string;
  /** Value of the Host header. */
  authority: string;
}

const URL_CHARACTERS_MAX = 2048;
const SHAPE = /^(https?):\/\/([^/?#]*)([/?#].*)?$/i;
const PORT = /^[1-9]\d{0,4}$/;
/** RFC 1123 does not allow underscores in host names, but container networks use them. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** Last label of a host that the URL parser reads as IPv4 address (WHATWG URL § ends-in-a-number). */
const NUMBER_LABEL = /^(?:\d+|0x[0-9a-f]*)$/;

/** @throws EgressError bad_url, saying what to write instead */
export function parseTarget(text: string): Target {
  const { secure, authority } = split(text);
  const { host, isLiteral, port } = readAuthority(authority, secure ? 443 : 80);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw bad('cannot be parsed; write a URL such as https://hooks.example/path');
  // Other URL parsers must arrive at the same host.
  const parsedHost = url.hostname.replace(/^\[|\]$/g, '');
  if (!isSameHost(parsedHost, host)) throw bad(`reads as another host; write ${parsedHost}`);
  return { secure, host, isLiteral, port, path: url.pathname + url.search, authority: url.host };
}

/** Returns scheme and lower-case authority of an unambiguous text. */
function split(text: string): { secure: boolean; authority: string } {
  if (text.length > URL_CHARACTERS_MAX)
    throw bad(`is longer than ${URL_CHARACTERS_MAX} characters; use a shorter one`);
  if (!/^[\x21-\x7e]*$/.test(text)) {
    throw bad('has spaces, control or non-ASCII characters; write an international name as xn--…');
  }
  if (text.includes('\\')) throw bad('has a backslash; write / or %5C');
  const [, scheme = '', authority = ''] = SHAPE.exec(text) ?? [];
  if (scheme === '') throw bad('must start with https:// (or http://)');
  if (authority.includes('@')) throw bad('has a user name or password; put credentials into a header');
  if (authority.includes('%'))
    throw bad('has percent-encoding or a zone id in its host; write the plain host');
  return { secure: scheme.toLowerCase() === 'https', authority: authority.toLowerCase() };
}

/** IPv6 addresses have many notations, so they are compared as addresses. */
function isSameHost(parsed: string, host: string): boolean {
  if (!host.includes(':')) return parsed === host;
  return ipaddr.parse(parsed).toString() === ipaddr.parse(host).toString();
}

function readAuthority(
  authority: string,
  defaultPort: number,
): { host: string; isLiteral: boolean; port: number } {
  const ipv6 = /^\[([0-9a-f:.]+)\](?::(.*))?$/.exec(authority);
  if (ipv6 !== null) {
    const host = ipv6[1] ?? '';
    if (!ipaddr.IPv6.isValid(host)) throw bad('has an invalid IPv6 address; write one such as [2001:db8::1]');
    return { host, isLiteral: true, port: readPort(ipv6[2], defaultPort) };
  }
  const [host = '', portText, ...rest] = authority.split(':');
  if (rest.length > 0) throw bad('has an IPv6 address without [brackets]; write one such as [2001:db8::1]');
  return { host, isLiteral: readName(host), port: readPort(portText, defaultPort) };
}

function readPort(text: string | undefined, defaultPort: number): number {
  if (text === undefined) return defaultPort;
  if (!PORT.test(text) || Number(text) > 65_535)
    throw bad('has a port outside 1–65535 or with leading zeros; write a port such as 8443');
  return Number(text);
}

/** Returns true for an IPv4 literal, false for a DNS name. @throws EgressError bad_url */
function readName(host: string): boolean {
  if (host === '') throw bad('has no host; write a URL such as https://hooks.example/path');
  if (host.endsWith('.')) throw bad('has a host with a trailing dot; remove the dot');
  const labels = host.split('.');
  if (host.length > 253 || !labels.every((label) => LABEL.test(label)))
    throw bad('has a host that is not a DNS name; write one such as hooks.example');
  if (!NUMBER_LABEL.test(labels.at(-1) ?? '')) return false;
  if (ipaddr.IPv4.isValidFourPartDecimal(host)) return true;
  throw bad('has an IPv4 address in octal, hex, decimal or short form; write four decimal numbers');
}

function bad(reason: string): EgressError {
  return new EgressError('bad_url', `The URL ${reason}.`);
}
