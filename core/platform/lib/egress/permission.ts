// Checks of the places that an administrator permits requests to. A place has one spelling, so that the permitted
// place is the requested one.
import { invalidField } from '../errors/errors.ts';
import { parseTarget } from './target.ts';

/** Headers that the server sets, that frame the message, or that hold cookies or proxy credentials. */
const reservedHeaders: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade'],
  ...['expect', 'proxy-authorization', 'proxy-authenticate', 'proxy-connection', 'accept-encoding'],
  ...['cookie', 'cookie2', 'set-cookie', 'idempotency-key', 'http2-settings'],
]);
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Sequences that servers may decode again, reaching another path than the one compared. */
const readTwoWays = /%(?:25)*(?:2e|2f|5c|00)|\/\/|;/i;

export function isReservedHeader(header: string): boolean {
  return reservedHeaders.has(header.toLowerCase());
}

/** @throws ApiError validation_failed naming the field `at` */
export function requireOrigin(at: string, origin: string): void {
  const normal = originOf(origin);
  if (normal === origin) return;
  throw invalidField(at, 'invalid_format', {
    why: `${JSON.stringify(origin)} is not an origin.`,
    fix: `Use only scheme, host and port${normal === null ? ': https://api.acme.dev' : `: ${normal}`}.`,
  });
}

/** Returns null if the URL is invalid or ambiguous. */
function originOf(url: string): string | null {
  try {
    parseTarget(url);
    return new URL(url).origin;
  } catch {
    return null;
  }
}

/** @throws ApiError validation_failed naming the field `at` */
export function requirePath(at: string, path: string): void {
  if (!readTwoWays.test(path) && new URL(path, 'https://api.acme.dev').pathname === path) return;
  throw invalidField(at, 'invalid_format', {
    why: 'The path is ambiguous.',
    fix: 'Use a path without query, dot segments, double slashes and encoded slashes, such as /v1/.',
  });
}

/** @throws ApiError validation_failed naming the field `at` */
export function requireSecretHeader(at: string, header: string): void {
  if (headerName.test(header) && !isReservedHeader(header)) return;
  throw invalidField(at, 'invalid_format', {
    why: `A secret cannot be sent in the header ${JSON.stringify(header)}.`,
    fix: 'Use a header that the receiver accepts, such as authorization or x-api-key.',
  });
}

/** Returns true if `path` covers the path of a URL: all paths below it if it ends with a slash, otherwise itself. */
export function isWithin(path: string, pathname: string): boolean {
  if (path === '/') return true;
  if (readTwoWays.test(pathname)) return false;
  return path.endsWith('/') ? pathname.startsWith(path) : pathname === path;
}
