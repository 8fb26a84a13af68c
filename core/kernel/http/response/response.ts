// The only place that creates a Response. Every response of the application has the request id and the three RateLimit headers
// (docs/spec/api.md › Rate limits), every error has the same envelope (docs/spec/errors.md › The envelope), and Retry-After is sent only
// with 429. By default no response may be cached, framed, sniffed for another type, or named to other sites as a referrer
// (docs/decisions/0036).
import type { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { Exchange } from '../exchange.ts';

/** A header with several values is sent as several lines. */
export type HeaderBag = Record<string, string | readonly string[]>;

/** A response that is not a page may load nothing, even if a browser takes it for one. Pages set their own policy. */
const csp = "default-src 'none'; frame-ancestors 'none'";

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
