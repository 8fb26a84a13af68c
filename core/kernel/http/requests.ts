// HTTP adapter of the kernel: reads values from a Request, and returns a Response.
import type { BillingAccount } from '../../platform/lib/billing-account.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import type { Services } from '../context.ts';
import { noOrigin, type WriteMode } from './call.ts';
import { type RateVerdict, unlimited } from './limits/rate-limit.ts';
import { announcesBody, type Bodies, readCapped, type Uploads } from './request/body.ts';
import { createIdentify, type Identify, type IdentifyOptions } from './request/context-of.ts';
import {
  acceptsPage,
  checkedKey,
  type Incoming,
  modeOf,
  pathOf,
  type RequestAdapter,
  traceparentOf,
} from './request/request.ts';
import { createSignedAdapter, type SignedAdapter } from './request/signed-url.ts';
import type { Principal, ResumeCredential } from './principal.ts';
import { displayPath, ifMatchVersion, refusalOf, respond, respondError } from './response/response.ts';
import { type ConnectionOptions, createSend } from './response/send.ts';
import type { RawAnswer, RequestContent } from './route.ts';

/** State of a request while it is being served, for every adapter. */
export interface Exchange {
  readonly requestId: string;
  verdict: RateVerdict;
  /** Mode that a write requested; null for other requests. */
  mode: WriteMode | null;
  /** Name of the client (`peerName`), for an HTTP request without a token. */
  peer: string | null;
  /** Account that is charged, once it is known. */
  billingAccount: BillingAccount | null;
  readonly startedMs: number;
  /** Wait time since `startedMs`: for the body, the disk, queues, and reads outside of the event loop. */
  readonly waiting: { ms: number };
  bytesIn: number;
  bytesOut: number;
  /** True if a browser requests a page; an error is then sent as a page. */
  asksForPage: boolean;
  /** Releases the memory reserved for the body. */
  release?: () => void;
}

export function newExchange(requestId: string): Exchange {
  return {
    requestId,
    verdict: unlimited,
    mode: null,
    peer: null,
    billingAccount: null,
    startedMs: performance.now(),
    waiting: { ms: 0 },
    bytesIn: 0,
    bytesOut: 0,
    asksForPage: false,
  };
}

interface IncomingRequest extends Incoming {
  readonly request: Request;
}

interface RequestsOptions extends IdentifyOptions, ConnectionOptions {
  readonly services: Services;
  readonly bodies: Bodies;
  readonly uploads: Uploads;
  readonly resume: ResumeCredential;
  /** Returns the page that a browser gets in place of an error. */
  readonly errorPage: (error: ApiError, exchange: Pick<Exchange, 'requestId'>) => RawAnswer;
}

export interface Requests extends RequestAdapter<IncomingRequest, Response> {
  /** Adapter of routes that are called by signed URLs. */
  readonly signed: SignedAdapter;
  /**
   * Responds to a request that no route matches.
   * @param errorOf called unless the request exceeds its rate limit
   */
  refuseUnrouted(request: Request, errorOf: (request: Request) => ApiError): Promise<Response>;
}

const noQuery: [] = [];

export function createRequests(options: RequestsOptions): Requests {
  const identification = createIdentify(options);
  const base = createUnsigned(options, identification);
  return { ...base, signed: createSignedAdapter(base, identification, options.resume) };
}

function createUnsigned(options: RequestsOptions, { identify, admit }: Identify): Omit<Requests, 'signed'> {
  const { bodies } = options;
  const { ids, log } = options.services;
  const refuse = createRefuse(options);
  return {
    admit: createAdmit(options, admit),
    proposes: ({ request: { headers } }) => headers.get('tatami-mode') === 'propose',
    requirePath: ({ request: { url } }) => requireDecodable(url),
    queryOf({ request: { url } }) {
      const mark = url.indexOf('?');
      return mark < 0 ? noQuery : new URLSearchParams(url.slice(mark + 1));
    },
    bringsBody: ({ request }) => announcesBody(request),
    readBody({ request }, exchange, billingAccount, limits, check) {
      // Set to the announced size, in case the body is rejected before it is measured.
      exchange.bytesIn = Number(request.headers.get('content-length') ?? 0);
      return bodies.read(billingAccount, request, limits, check);
    },
    fileOf: ({ request }, exchange, billingAccount) =>
      options.uploads.fileOf(request, exchange, billingAccount),
    rawRequestOf: ({ request }, exchange, { resource }, principal) => ({
      ...contentOf(request, exchange, options.peerOf(request)),
      baseUrl: options.services.baseUrl,
      principal: resource ? principal : null,
      identify: () => (resource ? identify(request, resource).catch(() => null) : Promise.resolve(null)),
      holdOpen: () => options.holdOpen(request),
    }),
    termsOf({ request: { headers } }) {
      const mode = modeOf(headers.get('tatami-mode'));
      const key = mode === 'simulate' ? null : headers.get('idempotency-key');
      const ifMatch = ifMatchVersion(headers.get('if-match'));
      return { ifMatch, mode, idempotencyKey: key === null ? null : checkedKey(key), hold: null };
    },
    originOf({ request }) {
      const traceparent = traceparentOf(request.headers.get('traceparent'));
      return traceparent === null ? noOrigin : { ...noOrigin, traceparent };
    },
    show: createSend({ ...options, identify }),
    refuse,
    async refuseUnrouted(request, errorOf) {
      const exchange = newExchange(ids.next(idPrefixes.request));
      exchange.asksForPage = !pathOf(request.url).startsWith('/api/') && opensPage(request);
      try {
        await admit(request, exchange, { name: '(no route)', limit: 'read', scope: null });
        return refuse(exchange, errorOf(request));
      } catch (refused) {
        if (refused instanceof ApiError && refused.code === 'unauthorized')
          return refuse(exchange, errorOf(request));
        const path = (): string => displayPath(pathOf(request.url));
        const identity = { requestId: exchange.requestId, method: request.method, path };
        return refuse(exchange, refusalOf(log, identity, refused));
      }
    },
  };
}

/** Rejects a read without capacity for its response. */
function createAdmit({ outflow }: RequestsOptions, admit: Identify['admit']): Requests['admit'] {
  const capable = (principal: Principal | null): Principal | null => {
    if (principal) outflow.requireCapacity(principal.scope);
    return principal;
  };
  return ({ request }, exchange, route) => {
    if (route.contentType === 'text/html') exchange.asksForPage = acceptsPage(request);
    const admitted = admit(request, exchange, route);
    if (route.kind !== 'read') return admitted;
    return admitted instanceof Promise ? admitted.then(capable) : capable(admitted);
  };
}

function createRefuse({ services, errorPage }: RequestsOptions): Requests['refuse'] {
  // The challenge names the metadata by which clients find out how to get a token (RFC 9728 §5.1).
  const challenge = `Bearer realm="tatami", resource_metadata="${services.baseUrl}/.well-known/oauth-protected-resource/api/v1"`;
  return (exchange, error) => {
    if (!exchange.asksForPage) return respondError(exchange, error, challenge);
    return respondPage(exchange, errorPage(error, exchange));
  };
}

const opensPage = (request: Request): boolean =>
  (request.method === 'GET' || request.method === 'HEAD') && acceptsPage(request);

function respondPage(exchange: Exchange, { status = 200, contentType, body, headers }: RawAnswer): Response {
  if (typeof body !== 'string') throw new Error('The body of a page must be a string.');
  return respond(exchange, status, body, { 'content-type': contentType, ...headers });
}

function contentOf(request: Request, exchange: Exchange, peer: string): RequestContent {
  return {
    method: request.method,
    path: pathOf(request.url),
    headers: request.headers,
    query: new URL(request.url).searchParams,
    peer,
    async read(bytesMax) {
      const startedMs = performance.now();
      const bytes = await readCapped(request, bytesMax);
      exchange.waiting.ms += performance.now() - startedMs;
      exchange.bytesIn = bytes.length;
      return bytes;
    },
  };
}

function requireDecodable(url: string): void {
  if (!url.includes('%')) return;
  try {
    decodeURIComponent(pathOf(url));
  } catch {
    throw new ApiError(
      'malformed_request',
      'The path contains an invalid percent escape. Write a literal % as %25.',
    );
  }
}
