// Small `URL` and `URLSearchParams` (WHATWG URL) for absolute and relative http, https and opaque URLs. Non-ASCII hosts (IDNA) and
// numeric IPv4 forms other than four decimal parts are not supported and throw a TypeError rather than being misread.
import { GuestTextDecoder, GuestTextEncoder } from './text-codec.ts';
import { NativeTypeError } from '../harden.ts';

const defaultPorts: Record<string, string> = {
  'http:': '80',
  'https:': '443',
  'ws:': '80',
  'wss:': '443',
  'ftp:': '21',
};
const urlParts = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#[\s\S]*)?$/;

/** A class, because plugins construct it with `new`. */
export class GuestUrl {
  protocol = '';
  username = '';
  password = '';
  hostname = '';
  port = '';
  pathname = '';
  hash = '';
  readonly searchParams: GuestUrlSearchParams;

  constructor(input: unknown, base?: unknown) {
    const raw = `${input as string}`.replace(/^[\u0000-\u0020]+|[\u0000-\u0020]+$|[\t\n\r]/g, '');
    const { protocol, authority, path, query, inherited, hash, over } = partsOf(
      raw,
      base === undefined ? undefined : new GuestUrl(base),
    );
    this.protocol = protocol;
    const isSpecial = protocol in defaultPorts;
    if (over) copyAuthority(this, over);
    else if (authority !== undefined) readAuthority(this, authority, isSpecial);
    if (isSpecial && !this.hostname) throw invalid(raw);
    const whole = encodePath(path);
    this.pathname = isSpecial || this.hostname ? removeDots(whole) : whole;
    this.searchParams = new GuestUrlSearchParams(query ?? inherited);
    this.#query = query === undefined ? inherited : encodeQuery(query);
    this.#queryText = this.searchParams.toString();
    this.hash = hash.length > 1 ? encodeText(hash, /[\u0000-\u0020"<>`\u007f-\uffff]/g) : '';
  }

  #query: string;
  #queryText: string;

  /** Query as given until the parameters change, then as serialized. */
  get search(): string {
    const text = this.searchParams.toString();
    if (text === this.#queryText) return this.#query.length > 1 ? this.#query : '';
    return text === '' ? '' : `?${text}`;
  }

  get host(): string {
    return this.port === '' ? this.hostname : `${this.hostname}:${this.port}`;
  }

  get origin(): string {
    return this.protocol in defaultPorts ? `${this.protocol}//${this.host}` : 'null';
  }

  get href(): string {
    const user =
      this.username || this.password ? `${this.username}${this.password ? `:${this.password}` : ''}@` : '';
    const authority = this.hostname || this.protocol === 'file:' ? `//${user}${this.host}` : '';
    return `${this.protocol}${authority}${this.pathname}${this.search}${this.hash}`;
  }

  toString(): string {
    return this.href;
  }

  toJSON(): string {
    return this.href;
  }

  static canParse(input: unknown, base?: unknown): boolean {
    try {
      return new GuestUrl(input, base).href !== '';
    } catch {
      return false;
    }
  }
}

interface ParsedParts {
  readonly protocol: string;
  readonly authority: string | undefined;
  readonly path: string;
  readonly query: string | undefined;
  /** Query of the base URL, used if the input has none. */
  readonly inherited: string;
  readonly hash: string;
  /** Base URL whose authority applies. */
  readonly over: GuestUrl | undefined;
}

function partsOf(raw: string, parent: GuestUrl | undefined): ParsedParts {
  const own = urlParts.exec(schemeOf(raw, parent) in defaultPorts ? raw.replace(/\\/g, '/') : raw);
  if (!own) throw invalid(raw);
  const [, scheme, authority, path = '', query, hash = ''] = own;
  if (!scheme && !parent) throw invalid(raw);
  const protocol = (scheme ? `${scheme}:` : (parent as GuestUrl).protocol).toLowerCase();
  const over = scheme || authority !== undefined ? undefined : parent;
  if (!over) return { protocol, authority, path, query, inherited: '', hash, over };
  const inherited = path === '' ? over.search : '';
  return { protocol, authority, path: mergePath(over, path), query, inherited, hash, over };
}

function invalid(raw: string): Error {
  return new NativeTypeError(
    `Invalid URL: ${raw.slice(0, 200)}. Use an absolute URL, such as https://api.acme.dev/v1.`,
  );
}

function schemeOf(raw: string, parent: GuestUrl | undefined): string {
  const match = /^([a-zA-Z][a-zA-Z0-9+.-]*:)/.exec(raw);
  return match ? (match[1] as string).toLowerCase() : (parent?.protocol ?? '');
}

function copyAuthority(url: GuestUrl, parent: GuestUrl): void {
  url.username = parent.username;
  url.password = parent.password;
  url.hostname = parent.hostname;
  url.port = parent.port;
}

function readAuthority(url: GuestUrl, authority: string, special: boolean): void {
  const at = authority.lastIndexOf('@');
  if (at >= 0) {
    const [user = '', ...password] = authority.slice(0, at).split(':');
    url.username = encodeUserInfo(user);
    url.password = encodeUserInfo(password.join(':'));
  }
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:]*)(?::(\d*))?$/.exec(authority.slice(at + 1));
  if (!match)
    throw new NativeTypeError(
      'Invalid URL: the host or the port is invalid. Use a URL such as https://api.acme.dev:8443/v1.',
    );
  url.hostname = special ? checkHost(match[1] as string) : (match[1] as string);
  const port = (match[2] ?? '').replace(/^0+(?=\d)/, '');
  if (Number(port) > 65535)
    throw new NativeTypeError('Invalid URL: the port is invalid. Use a port from 0 to 65535.');
  url.port = port === defaultPorts[url.protocol] ? '' : port;
}

function checkHost(host: string): string {
  const name = host.startsWith('[') ? host : decodeText(host);
  const lower = name.toLowerCase();
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9_~!$&'()*+,;=.-]+)$/.test(lower))
    throw new NativeTypeError(
      'Invalid URL: the host has unsupported characters. Use a host in ASCII, such as api.acme.dev.',
    );
  const last = lower.split('.').filter(Boolean).at(-1) ?? '';
  const numeric = /^(\d+|0x[0-9a-f]*)$/.test(last);
  if (numeric && !/^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.|$)){4}$/.test(lower))
    throw new NativeTypeError(
      'Invalid URL: the IPv4 address must have four decimal numbers, such as 192.0.2.1.',
    );
  return lower;
}

function mergePath(parent: GuestUrl, path: string): string {
  if (path === '') return parent.pathname;
  if (path.startsWith('/')) return path;
  return parent.pathname.slice(0, parent.pathname.lastIndexOf('/') + 1) + path;
}

function removeDots(path: string): string {
  const out: string[] = [];
  const parts = path.replace(/^\//, '').split('/');
  parts.forEach((part, index) => {
    const last = index === parts.length - 1;
    const plain = part.replace(/%2e/gi, '.');
    if (plain === '..') out.pop();
    if (plain !== '..' && plain !== '.') out.push(part);
    else if (last) out.push('');
  });
  return `/${out.join('/')}`;
}

const encodePath = (path: string): string => encodeText(path, /[\u0000-\u0020"#<>?^`{}\u007f-\uffff]/g);
const encodeQuery = (query: string): string => encodeText(query, /[\u0000-\u0020"#'<>\u007f-\uffff]/g);
const encodeUserInfo = (text: string): string =>
  encodeText(text, /[\u0000-\u0020"#/:;<=>?@[\\\]^`{|}\u007f-\uffff]/g);

/** Percent-encodes the matches of `pattern` as UTF-8; encodes runs of non-ASCII together, so that surrogate pairs stay intact. */
function encodeText(text: string, pattern: RegExp): string {
  return text.replace(new RegExp(`(?:${pattern.source})+`, 'g'), (run) => {
    let out = '';
    for (const byte of new GuestTextEncoder().encode(run))
      out += `%${byte < 16 ? '0' : ''}${byte.toString(16).toUpperCase()}`;
    return out;
  });
}

function decodeText(text: string): string {
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => {
    const bytes = (run.match(/[0-9a-fA-F]{2}/g) ?? []).map((pair) => parseInt(pair, 16));
    return new GuestTextDecoder().decode(new Uint8Array(bytes));
  });
}

/** application/x-www-form-urlencoded (WHATWG URL § 5). */
export class GuestUrlSearchParams {
  #pairs: [name: string, value: string][] = [];

  constructor(init: unknown = '') {
    if (typeof init === 'string') this.#parse(init.replace(/^\?/, ''));
    else if (init !== null && typeof init === 'object') {
      const entries =
        Symbol.iterator in init
          ? [...(init as Iterable<[string, string]>)]
          : Object.entries(init as Record<string, string>);
      for (const [name, value] of entries) this.append(name, value);
    }
  }

  #parse(text: string): void {
    for (const part of text.split('&')) {
      if (part === '') continue;
      const [name = '', ...value] = part.replace(/\+/g, ' ').split('=');
      this.#pairs.push([decodeText(name), decodeText(value.join('='))]);
    }
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: unknown, value: unknown): void {
    this.#pairs.push([`${name as string}`, `${value as string}`]);
  }

  delete(name: string): void {
    this.#pairs = this.#pairs.filter(([key]) => key !== name);
  }

  get(name: string): string | null {
    return this.#pairs.find(([key]) => key === name)?.[1] ?? null;
  }

  getAll(name: string): string[] {
    return this.#pairs.filter(([key]) => key === name).map(([, value]) => value);
  }

  has(name: string): boolean {
    return this.#pairs.some(([key]) => key === name);
  }

  set(name: string, value: unknown): void {
    const first = this.#pairs.find(([key]) => key === name);
    if (!first) return this.append(name, value);
    first[1] = `${value as string}`;
    this.#pairs = this.#pairs.filter((pair) => pair === first || pair[0] !== name);
  }

  sort(): void {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }

  forEach(visit: (value: string, name: string, params: GuestUrlSearchParams) => void): void {
    for (const [name, value] of this.#pairs) visit(value, name, this);
  }

  *entries(): IterableIterator<[string, string]> {
    yield* this.#pairs.map(([name, value]): [string, string] => [name, value]);
  }

  *keys(): IterableIterator<string> {
    yield* this.#pairs.map(([name]) => name);
  }

  *values(): IterableIterator<string> {
    yield* this.#pairs.map(([, value]) => value);
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }

  toString(): string {
    const encode = (text: string): string => encodeText(text, /[^a-zA-Z0-9*_. -]/g).replace(/ /g, '+');
    return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  }
}
