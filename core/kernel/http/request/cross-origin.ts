// Cross-origin access to the API from browsers (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol). The
// API accepts no cookies, so a page can do no more than the key that it has; the operator may still restrict
// the origins. The layer wraps the router, because browsers must also be able to read errors.
// docs/decisions/0036.
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { idPrefixes, type Ids } from '../../../platform/lib/ids.ts';
import { newExchange } from '../requests.ts';
import { requireAdmitted } from './context-of.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { pathOf } from './request.ts';
import { respond, respondError } from '../response/response.ts';

/** Answers a preflight request, or adds CORS headers to the response of `serve`. */
export interface CrossOrigin {
  (request: Request, serve: Serve): Response | Promise<Response>;
}
type Serve = (request: Request) => Response | Promise<Response>;

export interface CrossOriginOptions {
  /** Origins that may call the API; `*` allows all, an empty list none. */
  readonly origins: '*' | readonly string[];
  readonly limiter: RateLimiter;
  readonly ids: Ids;
  readonly peerOf: (request: Request) => string;
}

/** Cache time of a preflight response: the maximum in Chrome. */
const preflightSeconds = 7_200;

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** Headers that requests may have. The asterisk allows custom headers, but never Authorization. */
const taken = [
  'Authorization',
  'Content-Type',
  'Content-Encoding',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Last-Event-ID',
  'Range',
  'Tatami-Mode',
  'Traceparent',
  'X-Request-Id',
  '*',
].join(', ');

/** Response headers that a page may read, in addition to those that are always readable. */
const exposed = [
  'Accept-Encoding',
  'Accept-Ranges',
  'Allow',
  'Content-Range',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'Tatami-Mode',
  'WWW-Authenticate',
  'X-Request-Id',
].join(', ');

export function createCrossOrigin(options: CrossOriginOptions): CrossOrigin {
  const { origins } = options;
  if (origins.length === 0) return (request, serve) => serve(request);
  const allowed = origins === '*' ? null : new Set(origins);
  /** Returns the value of `Access-Control-Allow-Origin` for pages of `origin`; null if they may not read the response. */
  const readerOf = (origin: string): string | null => {
    if (!allowed) return '*';
    return allowed.has(origin) ? origin : null;
  };
  const marked = (response: Response, origin: string | null): Response => {
    const reader = origin === null ? null : readerOf(origin);
    if (reader !== null) {
      response.headers.set('access-control-allow-origin', reader);
      response.headers.set('access-control-expose-headers', exposed);
    }
    if (allowed && !response.headers.get('vary')?.includes('Origin'))
      response.headers.append('vary', 'Origin');
    return response;
  };

  return (request, serve) => {
    const origin = request.headers.get('origin');
    if ((origin === null && !allowed) || !isCalled(pathOf(request.url))) return serve(request);
    if (origin !== null && isPreflight(request))
      return marked(answerPreflight(options, request, origin, readerOf(origin) !== null), origin);
    const response = serve(request);
    return response instanceof Promise
      ? response.then((answer) => marked(answer, origin))
      : marked(response, origin);
  };
}

/**
 * Paths that apps call. Consent pages are not among them, nor is the authorization endpoint, which browsers navigate to and which pages
 * must not be able to read (RFC 9700 §2.6).
 */
const called = [
  '/api/',
  '/.well-known/oauth-',
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/introspect',
  '/oauth/register',
  '/oauth/device',
];

function isCalled(path: string): boolean {
  return called.some((beginning) => path.startsWith(beginning));
}

function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('access-control-request-method');
}

/** Responds alike for every path, existing or not: browsers show the error of the request itself only after a successful preflight. */
function answerPreflight(
  { limiter, ids, peerOf }: CrossOriginOptions,
  request: Request,
  origin: string,
  isAllowed: boolean,
): Response {
  const exchange = newExchange(ids.next(idPrefixes.request));
  exchange.verdict = limiter.hitPeer(peerOf(request), 'preflight');
  try {
    requireAdmitted(exchange);
    if (!isAllowed)
      throw new ApiError(
        'forbidden',
        `Pages of ${origin} may not call this server. The operator can allow the origin with --cors-origins.`,
      );
  } catch (error) {
    if (error instanceof ApiError) return respondError(exchange, error);
    throw error;
  }
  return respond(exchange, 204, null, {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': taken,
    'access-control-max-age': String(preflightSeconds),
  });
}
