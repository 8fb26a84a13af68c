// Sends answers over HTTP: as JSON with an entity tag, compressed if the client accepts it, as a page, or as an event stream.
import type { HandlerAnswer, WrittenAnswer } from '../call.ts';
import { codedFrom, codingFor, encodeNow, isLong, type Coder, type Coding } from '../request/coding.ts';
import { etagAs, etagOf, knownTag, respond, respondJson, type HeaderBag } from './response.ts';
import { versionIn } from '../../../platform/lib/response-version.ts';
import type { Exchange } from '../requests.ts';
import type { Identify } from '../request/context-of.ts';
import type { ExemptConnection, Outflow } from './outflow.ts';
import { memberOf } from '../principal.ts';
import type { CachedBody } from '../request/body.ts';
import { areSameRights } from '../../rights/rights.ts';
import type { HttpConnection, RawAnswer } from '../route.ts';
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';

export interface ConnectionOptions {
  readonly outflow: Outflow;
  readonly coder: Coder;
  /** Exempts the connection of a request from the idle timeout. */
  readonly holdOpen: (request: Request) => ExemptConnection;
}

interface SendOptions extends ConnectionOptions {
  /** Authenticates the token of a request again. */
  readonly identify: Identify['identify'];
}

type Read = Extract<HandlerAnswer, { kind: 'read' }>;
type Opened = Extract<HandlerAnswer, { kind: 'stream' }>;

export function createSend(
  options: SendOptions,
): (
  incoming: { request: Request },
  exchange: Exchange,
  answer: HandlerAnswer,
) => Response | Promise<Response> {
  return ({ request }, exchange, answer) => {
    switch (answer.kind) {
      case 'read':
        return sendRead(options, request, exchange, answer);
      case 'written':
        return sendWritten(options, request, exchange, answer);
      case 'raw':
        return sendRaw(request, exchange, answer.raw);
      case 'stream':
        return sendStream(options, request, exchange, answer);
    }
  };
}

/** @throws ApiError range_not_satisfiable */
function respondFile(
  request: Request,
  exchange: Exchange,
  file: Blob,
  headers: HeaderBag & { readonly etag: string },
): Response {
  const { etag } = headers;
  const { size } = file;
  headers['accept-ranges'] = 'bytes';
  if (knownTag(etag, request) !== null) return respond(exchange, 304, null, headers);
  const rangeHeader = request.method === 'GET' ? request.headers.get('range') : null;
  if (rangeHeader === null) return respond(exchange, 200, file, headers);
  const range = isOfThis(etag, request) ? rangeIn(rangeHeader, size) : null;
  if (range) {
    headers['content-range'] = `bytes ${range.start}-${range.end - 1}/${size}`;
    return respond(exchange, 206, file.slice(range.start, range.end), headers);
  }
  // Bun cuts a file by the Range of the request, even where If-Range forbids it, unless the response names a range. On a 200 the header has
  // no meaning (§14.4).
  headers['content-range'] = `bytes */${size}`;
  return respond(exchange, 200, file, headers);
}

/** True unless `If-Range` names another file. A date matches no file, because files have no modification time. */
function isOfThis(etag: string, { headers }: Request): boolean {
  const condition = headers.get('if-range');
  return condition === null || condition.trim() === etag;
}

interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * @returns null for several ranges, other units and malformed ranges, which a server may ignore
 * @throws ApiError range_not_satisfiable
 */
function rangeIn(header: string, size: number): ByteRange | null {
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header) ?? [];
  if (first === '')
    return last === '' ? null : within({ start: Math.max(0, size - Number(last)), end: size }, size);
  const start = Number(first);
  if (last === '') return within({ start, end: size }, size);
  return Number(last) < start ? null : within({ start, end: Math.min(size, Number(last) + 1) }, size);
}

/** @throws ApiError range_not_satisfiable */
function within(range: ByteRange, size: number): ByteRange {
  if (range.start < range.end) return range;
  const message = `The file has ${size} bytes. Request a range within them, or omit the Range header.`;
  throw new ApiError('range_not_satisfiable', message, { headers: { 'content-range': `bytes */${size}` } });
}

function sendRaw(
  request: Request,
  exchange: Exchange,
  { contentType, body, etag, headers, status = 200 }: RawAnswer,
): Response | Promise<Response> {
  const own = { 'content-type': contentType, ...headers };
  if (etag !== undefined && body instanceof Blob)
    return respondFile(request, exchange, body, { ...own, etag });
  if (typeof body !== 'object' || !('etag' in body)) return respond(exchange, status, body, own);
  return sendCached(request, exchange, status, body, own);
}

/** Sends a response with `Vary`, because caches may store it. */
async function sendCached(
  request: Request,
  exchange: Exchange,
  status: number,
  body: CachedBody,
  own: HeaderBag,
): Promise<Response> {
  const coding = codingFor(request.headers.get('accept-encoding'));
  const known = knownTag(body.etag, request);
  const headers = { ...own, vary: 'Accept-Encoding, Origin', etag: known ?? etagAs(coding, body.etag) };
  if (known !== null) return respond(exchange, 304, null, headers);
  const coded = coding === null ? {} : { 'content-encoding': coding };
  return respond(exchange, status, await body.in(coding), { ...headers, ...coded });
}

function sendRead(
  options: SendOptions,
  request: Request,
  exchange: Exchange,
  { status, body }: Read,
): Response | Promise<Response> {
  const { text, etag } = textOf(body);
  const plan = planOf(request, text, { etag });
  const known = knownTag(etag, request);
  if (known !== null) return respond(exchange, 304, null, { ...plan.headers, etag: known });
  return sendText(options, request, exchange, status, plan);
}

/** Texts of bodies that never change, which the entity cache holds and several requests share. */
const texts = new WeakMap<object, { readonly text: string; readonly etag: string }>();

function textOf(body: unknown): { readonly text: string; readonly etag: string } {
  const isShared = typeof body === 'object' && body !== null && Object.isFrozen(body);
  const known = isShared ? texts.get(body) : undefined;
  if (known) return known;
  const text = JSON.stringify(body);
  const created = { text, etag: etagOf(versionIn(body), text) };
  if (isShared) texts.set(body, created);
  return created;
}

function sendWritten(
  options: SendOptions,
  request: Request,
  exchange: Exchange,
  { status, body, text: known, version, location, isReplay }: WrittenAnswer,
): Response | Promise<Response> {
  const text = known ?? (body === undefined ? null : JSON.stringify(body));
  const headers: HeaderBag = {};
  if (location !== undefined) headers.location = location;
  if (isReplay) headers['idempotent-replayed'] = 'true';
  if (text === null) return respond(exchange, status, null, headers);
  if (version !== undefined) headers.etag = etagOf(version, text);
  return sendText(options, request, exchange, status, planOf(request, text, headers));
}

/** Text of a response, with the coding it is sent in and its headers. */
interface Plan {
  readonly text: string;
  readonly coding: Coding | null;
  readonly headers: HeaderBag;
}

/** @param headers modified in place */
function planOf(request: Request, text: string, headers: HeaderBag): Plan {
  if (text.length < codedFrom) return { text, coding: null, headers };
  const coding = codingFor(request.headers.get('accept-encoding'));
  headers.vary = 'Accept-Encoding';
  if (typeof headers.etag === 'string') headers.etag = etagAs(coding, headers.etag);
  return { text, coding, headers };
}

function sendText(
  options: SendOptions,
  request: Request,
  exchange: Exchange,
  status: number,
  { text, coding, headers }: Plan,
): Response | Promise<Response> {
  if (coding === null) return sendBody(options, request, exchange, status, text, headers);
  headers['content-encoding'] = coding;
  const { billingAccount } = exchange;
  if (!billingAccount || !isLong(text))
    return sendBody(options, request, exchange, status, encodeNow(text, coding), headers);
  return encodeLong(options, billingAccount, exchange, text, coding).then((coded) =>
    sendBody(options, request, exchange, status, coded, headers),
  );
}

/** Counts the text against the caller until it is compressed. */
async function encodeLong(
  { coder, outflow }: SendOptions,
  billingAccount: BillingAccount,
  { waiting }: Exchange,
  text: string,
  coding: Coding,
): Promise<Uint8Array<ArrayBuffer>> {
  const release = outflow.hold(billingAccount, text);
  const sinceMs = performance.now();
  try {
    return await coder.encode(billingAccount, text, coding);
  } finally {
    waiting.ms += performance.now() - sinceMs;
    release();
  }
}

/** Streams a large body at the pace of its reader. For HEAD the router takes the length of the body and sends nothing. */
function sendBody(
  { outflow, holdOpen }: SendOptions,
  request: Request,
  exchange: Exchange,
  status: number,
  body: string | Uint8Array<ArrayBuffer>,
  headers: HeaderBag,
): Response {
  exchange.bytesOut = body.length;
  const { billingAccount } = exchange;
  const isPulled = billingAccount !== null && request.method !== 'HEAD';
  const sent = isPulled ? outflow.bodyOf(billingAccount, body, () => holdOpen(request)) : body;
  return respondJson(exchange, status, sent, headers);
}

async function sendStream(
  { identify, holdOpen }: SendOptions,
  request: Request,
  exchange: Exchange,
  { open, principal }: Opened,
): Promise<Response> {
  const connect = (): HttpConnection => ({
    tokenId: principal.tokenId,
    memberId: memberOf(principal),
    lastEventId: request.headers.get('last-event-id'),
    isAdmitted: () =>
      // A session outlives its bearers, which expire after minutes.
      (principal.resume ? principal.resume() : identify(request)).then(
        (now) => now !== null && (now === principal || areSameRights(now, principal)),
        () => false,
      ),
    hangUp: holdOpen(request).hangUp,
  });
  // For HEAD the router would read the stream to its end to determine its length.
  const stream = request.method === 'HEAD' ? null : await open(connect());
  return respond(exchange, 200, stream, {
    'content-type': 'text/event-stream',
    // Proxies that buffer whole responses would buffer this one forever.
    'x-accel-buffering': 'no',
  });
}
