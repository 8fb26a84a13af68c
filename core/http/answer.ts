// The one place that makes a Response: every answer of the application carries the request id and the three RateLimit headers
// (docs/spec/api.md › Rate limits), errors use the one envelope (docs/spec/errors.md › The envelope), and Retry-After stands on
// 429 only. Nothing is stored on the way, told to other sites, framed or taken for another type unless a route says so
// (docs/decisions/0009).
import type { Payer } from '../lib/payer.ts';
import { ApiError } from '../lib/errors.ts';
import type { StoreError } from '../store/store.ts';
import { unlimited, type RateVerdict } from './rate-limit.ts';

/** What is known about a request while it is being served. */
export interface Exchange {
  readonly requestId: string;
  verdict: RateVerdict;
  /** Echoed as `Tatami-Mode` on writes. */
  mode: 'commit' | 'simulate' | null;
  /** Who pays for it, once that is known. */
  payer: Payer | null;
  readonly startedMs: number;
  /** The part of the time since then that went by in waiting: for the caller's body, the disk, turns, and reads off the loop. */
  readonly away: { ms: number };
  bytesIn: number;
  bytesOut: number;
  /** Gives back the memory that was reserved for its body. */
  release?: () => void;
}

export function newExchange(requestId: string): Exchange {
  return {
    requestId,
    verdict: unlimited,
    mode: null,
    payer: null,
    startedMs: performance.now(),
    away: { ms: 0 },
    bytesIn: 0,
    bytesOut: 0,
  };
}

export type HeaderBag = Record<string, string>;

/** An answer that is no page may load nothing, whatever a browser is tricked into taking it for. A page brings its own policy. */
const csp = "default-src 'none'; frame-ancestors 'none'";

export function answer(
  exchange: Exchange,
  status: number,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null,
  headers: HeaderBag = {},
): Response {
  const { verdict } = exchange;
  if (typeof body === 'string' || body instanceof Uint8Array) exchange.bytesOut = body.length;
  headers['x-request-id'] = exchange.requestId;
  headers['ratelimit-limit'] = String(verdict.limit);
  headers['ratelimit-remaining'] = String(verdict.remaining);
  headers['ratelimit-reset'] = String(verdict.resetSeconds);
  headers['cache-control'] ??= 'no-store';
  headers['referrer-policy'] = 'no-referrer';
  headers['x-content-type-options'] = 'nosniff';
  headers['content-security-policy'] ??= csp;
  if (exchange.mode !== null) headers['tatami-mode'] = exchange.mode;
  return new Response(body, { status, headers });
}

export function answerJson(
  exchange: Exchange,
  status: number,
  text: string | ReadableStream<Uint8Array>,
  headers: HeaderBag = {},
): Response {
  headers['content-type'] = 'application/json';
  return answer(exchange, status, text, headers);
}

export function answerError(exchange: Exchange, error: ApiError): Response {
  const { code, message, details, status } = error;
  const headers: HeaderBag = { ...error.headers };
  if (status === 429) headers['retry-after'] = String(Math.max(1, exchange.verdict.resetSeconds));
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="tatami"';
  return answerJson(
    exchange,
    status,
    JSON.stringify({ error: { code, message, details, requestId: exchange.requestId } }),
    headers,
  );
}

/** The answer for a store that could not do its work. */
export function storeRefusal({ fault }: StoreError): ApiError {
  if (fault === 'full')
    return new ApiError(
      'storage_full',
      'The disk is full. Nothing was changed; free some space and send the request again.',
    );
  return new ApiError(
    'unavailable',
    fault === 'broken'
      ? 'The disk failed while writing. Whether this write was kept is not known: repeat it with the same Idempotency-Key.'
      : 'The database cannot be written right now. Nothing was changed; send the request again.',
  );
}

/** Strong validator: the version, compared by `If-Match`, and a hash of the body, compared by `If-None-Match`. */
export function etagOf(version: unknown, text: string): string {
  return `"${typeof version === 'number' ? version : 'h'}-${Bun.hash(text).toString(36)}"`;
}

/** The version in an `If-Match` header; null for `*` or no header; -1, which no version equals, for a tag without a version. */
export function ifMatchVersion(header: string | null): number | null {
  if (header === null || header.trim() === '*') return null;
  const version = /^\s*(?:W\/)?"?(\d{1,15})(?:-[0-9a-z]+)?"?\s*$/.exec(header);
  return version ? Number(version[1]) : -1;
}
