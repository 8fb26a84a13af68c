// Lets pages of other sites call the API from a browser (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol). Nobody is
// recognised by a cookie here, so that a page can do no more than the key it was given; the operator may still name the pages.
// It lies around the router, because a browser has to be able to read refusals, too. docs/decisions/0036.
import { ApiError } from '../lib/errors.ts';
import { idPrefixes, type Ids } from '../lib/ids.ts';
import { newExchange } from './exchange.ts';
import { requireAdmitted } from './identify.ts';
import type { RateLimiter } from './rate-limit.ts';
import { pathOf } from './request-url.ts';
import { respond, respondError } from './response.ts';

/** Answers a request, or has `serve` answer it and says who may read the answer. */
export interface CrossOrigin {
  (request: Request, serve: Serve): Response | Promise<Response>;
}
type Serve = (request: Request) => Response | Promise<Response>;

export interface CrossOriginOptions {
  /** Whose pages may: `*` is everybody, an empty list nobody. */
  readonly origins: '*' | readonly string[];
  readonly limiter: Pick<RateLimiter, 'hitPeer'>;
  readonly ids: Ids;
  readonly peerOf: (request: Request) => string;
}

/** Browsers ask again after this long; none keeps the answer longer than Chrome, which keeps it two hours. */
const preflightSeconds = 7_200;

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** What requests may carry. The star stands for those that others add, and never for Authorization. */
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

/** What a page may read of an answer, beside what every page may. */
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
  const named = origins === '*' ? null : new Set(origins);
  /** As the header that lets a page of `origin` read the answer; null where it may not. */
  const readerOf = (origin: string): string | null => {
    if (!named) return '*';
    return named.has(origin) ? origin : null;
  };
  const marked = (response: Response, origin: string | null): Response => {
    const reader = origin === null ? null : readerOf(origin);
    if (reader !== null) {
      response.headers.set('access-control-allow-origin', reader);
      response.headers.set('access-control-expose-headers', exposed);
    }
    if (named && !response.headers.get('vary')?.includes('Origin')) response.headers.append('vary', 'Origin');
    return response;
  };

  return (request, serve) => {
    const origin = request.headers.get('origin');
    if ((origin === null && !named) || !isCalled(pathOf(request.url))) return serve(request);
    if (origin !== null && isPreflight(request))
      return marked(answerPreflight(options, request, origin, readerOf(origin) !== null), origin);
    const response = serve(request);
    return response instanceof Promise
      ? response.then((answer) => marked(answer, origin))
      : marked(response, origin);
  };
}

/**
 * What apps call. A page that a person decides on is never among it, nor the address that leads there, which browsers go to and no
 * page may read (RFC 9700 §2.6).
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

/** The same for every path, there or not: what is wrong with the request itself a browser tells only then. */
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
        `Pages of ${origin} may not call this server. Its operator names those that may with --cors-origins.`,
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
