// The only place that creates a Response. Every response of the application has the request id and the three
// RateLimit headers (docs/spec/api.md › Rate limits), every error has the same envelope (docs/spec/errors.md
// › The envelope), and Retry-After is sent only with 429.
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { nearest } from '../../../platform/lib/text/words.ts';
import { StoreError } from '../../../platform/store/store.ts';
import { type Coding, codings } from '../request/coding.ts';
import { pathOf } from '../request/request.ts';
import type { Exchange } from '../requests.ts';
import type { Route } from '../route.ts';

/** A header with several values is sent as several lines. */
export type HeaderBag = Record<string, string | readonly string[]>;

/**
 * A response that is not a page may load nothing, even if a browser takes it for one. Pages set their own
 * policy.
 */
const csp = "default-src 'none'; frame-ancestors 'none'";

/**
 * By default no response may be cached, framed, sniffed for another type, or named to other sites as a
 * referrer (docs/decisions/0036).
 */
export function respond(
  exchange: Exchange,
  status: number,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | Blob | null,
  headers: HeaderBag = {},
): Response {
  const { verdict } = exchange;
  if (typeof body === 'string' || body instanceof Uint8Array) exchange.bytesOut = body.length;
  else if (body instanceof Blob) exchange.bytesOut = body.size;
  headers['x-request-id'] = exchange.requestId;
  headers['ratelimit-limit'] = String(verdict.limit);
  headers['ratelimit-remaining'] = String(verdict.remaining);
  headers['ratelimit-reset'] = String(verdict.resetSeconds);
  headers['cache-control'] ??= 'no-store';
  headers['referrer-policy'] = 'no-referrer';
  headers['x-content-type-options'] = 'nosniff';
  headers['content-security-policy'] ??= csp;
  if (exchange.mode !== null) headers['tatami-mode'] = exchange.mode;
  return new Response(body, { status, headers: linesOf(headers) });
}

function linesOf(headers: HeaderBag): Headers | Record<string, string> {
  if (Object.values(headers).every((value) => typeof value === 'string'))
    return headers as Record<string, string>;
  const lines = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const one of [value].flat()) lines.append(name, one);
  return lines;
}

export function respondJson(
  exchange: Exchange,
  status: number,
  text: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  headers: HeaderBag = {},
): Response {
  headers['content-type'] = 'application/json';
  return respond(exchange, status, text, headers);
}

/** @param challenge `WWW-Authenticate` of a 401, which describes how to get a token (RFC 6750 §3) */
export function respondError(
  exchange: Exchange,
  error: ApiError,
  challenge = 'Bearer realm="tatami"',
): Response {
  const { code, message, details, status } = error;
  const headers: HeaderBag = { ...error.headers };
  if (status === 429) headers['retry-after'] ??= '1';
  headers.link ??= `</docs/errors/${code}>; rel="describedby"`;
  if (status === 401) headers['www-authenticate'] ??= challenge;
  return respondJson(
    exchange,
    status,
    JSON.stringify({ error: { code, message, details, requestId: exchange.requestId } }),
    headers,
  );
}

/**
 * Returns the entity tag of a body (RFC 9110 §8.8.3), a strong validator: the version, compared by
 * `If-Match`, and a hash of the body, compared by `If-None-Match`.
 */
export function etagOf(version: number | undefined, body: string | Uint8Array<ArrayBuffer>): string {
  return `"${version ?? 'h'}-${Bun.hash(body).toString(36)}"`;
}

/**
 * Returns the tag of a compressed body: other bytes must not have the same tag (RFC 9110 §8.8.3.3). The
 * coding adds a letter to the hash, so the tag stays strong, as `If-Match` requires (§13.1.1).
 */
export function etagAs(coding: Coding | null, etag: string): string {
  return coding === null ? etag : `${etag.slice(0, -1)}${coding[0]}"`;
}

/**
 * Returns the tag in `If-None-Match` that matches the body in any coding (RFC 9110 §13.1.2); null if none
 * does.
 * @param etag tag of the uncompressed body
 */
export function knownTag(etag: string, { headers }: Request): string | null {
  const known = headers.get('if-none-match');
  if (known === null) return null;
  if (known.trim() === '*') return etag;
  const own = [etag, ...codings.map((coding) => etagAs(coding, etag))];
  // Proxies that compress by themselves weaken a tag.
  const tags = known.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.find((tag) => own.includes(tag)) ?? null;
}

/**
 * Returns the version in an `If-Match` header; null for `*` or no header; -1, which no version equals, for a
 * tag without a version.
 */
export function ifMatchVersion(header: string | null): number | null {
  if (header === null || header.trim() === '*') return null;
  const version = /^\s*(?:W\/)?"?(\d{1,15})(?:-[0-9a-z]+)?"?\s*$/.exec(header);
  return version ? Number(version[1]) : -1;
}

/** Request as identified in the log. */
interface RequestIdentity {
  readonly requestId: string;
  readonly method: string;
  /** Path without the query. */
  path(): string;
}

/** Returns the error for the caller. A failure that the caller cannot fix is logged. */
export function refusalOf(log: Log, { requestId, method, path }: RequestIdentity, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreError) {
    log('warn', 'store refused', { requestId, fault: error.fault, error: errorForLog(error) });
    return storeRefusal(error);
  }
  log('error', 'request failed', { requestId, method, path: path(), error: errorForLog(error) });
  return new ApiError(
    'internal_error',
    'The server failed to process the request. Give the request id to the administrator, who can find the failure in the log.',
  );
}

function storeRefusal({ fault }: StoreError): ApiError {
  if (fault === 'full')
    return new ApiError(
      'storage_full',
      'The disk is full. Nothing was changed; free some space and send the request again.',
    );
  if (fault === 'damaged')
    return new ApiError(
      'unavailable',
      'The database is damaged: it accepts no writes, and its damaged part cannot be read. The operator must restore it from a backup.',
    );
  return new ApiError(
    'unavailable',
    fault === 'broken'
      ? 'The disk failed while writing. The write may or may not be stored: repeat it with the same Idempotency-Key.'
      : 'The database is temporarily unavailable. Nothing was changed; send the request again.',
  );
}

/**
 * Longer paths are cut and longer segments replaced, so that a key sent in a path by mistake is not repeated.
 */
const pathCharsMax = 200;
const partCharsMax = 36;

type Unrouted = (request: Request) => ApiError;

interface KnownRoute {
  readonly path: string;
  readonly methods: readonly string[];
  readonly segments: readonly string[];
}

/**
 * Creates the 404 error for a path without a route. The message says that the route is missing, to
 * distinguish it from a missing object, and suggests the most similar route.
 */
export function createUnrouted(routes: readonly Route[]): Unrouted {
  const byPath = Map.groupBy(routes, ({ path }) => path);
  const known = [...byPath].map(([path, of]): KnownRoute => ({
    path,
    methods: of.map(({ method }) => method),
    segments: segmentsOf(path),
  }));
  return ({ method, url }) => {
    const path = pathOf(url);
    const meant = meantBy(segmentsOf(path), known);
    return new ApiError(
      'not_found',
      `There is no route ${method} ${displayPath(path)}.${meant ? ` Did you mean ${wordsOf(meant, method)}?` : ' See /docs for all routes.'}`,
    );
  };
}

/** Returns the path without segments that may be secrets, cut to a readable length. */
export function displayPath(path: string): string {
  const parts = path.split('/').map((part) => (part.length > partCharsMax ? '…' : part));
  const displayed = parts.join('/');
  return displayed.length > pathCharsMax ? `${displayed.slice(0, pathCharsMax)}…` : displayed;
}

/**
 * Omits the trailing slash and the prefix that all operations share, which callers often leave out or
 * mistype.
 */
function segmentsOf(path: string): string[] {
  return path
    .replace(/^\/(api(\/v\d+)?|v\d+)(?=\/|$)/i, '')
    .split('/')
    .filter((segment) => segment !== '');
}

/** Finds the most similar route with the same number of segments; parameters match any segment. */
function meantBy(requestedSegments: readonly string[], known: readonly KnownRoute[]): KnownRoute | undefined {
  if (requestedSegments.length === 0) return undefined;
  const alike = known.filter(({ segments }) => segments.length === requestedSegments.length);
  const byShape = Map.groupBy(alike, ({ segments }) => segments.map(isParameter).join());
  const candidates = [...byShape.values()].flatMap((group) => {
    const [{ segments: shape }] = group as [KnownRoute];
    const requested = requestedSegments.filter((_, index) => !isParameter(shape[index]!)).join('/');
    const match = nearest(
      requested,
      group.map(({ segments }) => fixedOf(segments)),
    );
    return group.filter(({ segments }) => match !== undefined && fixedOf(segments) === match).slice(0, 1);
  });
  // A route that matches more of the path literally precedes one that matches part of it by a parameter.
  return candidates.sort((a, b) => fixedOf(b.segments).length - fixedOf(a.segments).length)[0];
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function fixedOf(segments: readonly string[]): string {
  return segments.filter((segment) => !isParameter(segment)).join('/');
}

function wordsOf({ path, methods }: KnownRoute, method: string): string {
  const requested = method === 'HEAD' ? 'GET' : method;
  return methods.includes(requested) ? `${requested} ${path}` : `${path} (${methods.join(', ')})`;
}
