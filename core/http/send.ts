// How answers go out over HTTP: as JSON with an entity tag, as a page, or as a stream of events.
import type { Answer, WrittenAnswer } from './call.ts';
import { etagOf } from './etag.ts';
import type { Exchange } from './exchange.ts';
import type { Identify } from './identify.ts';
import type { Held, Outflow } from './outflow.ts';
import { respond, respondJson, type HeaderBag } from './response.ts';
import type { Connection } from './route.ts';

export interface SendOptions {
  readonly outflow: Outflow;
  /** Holds a request's connection open however long it is silent. */
  readonly holdOpen: (request: Request) => Held;
  /** Finds out anew whose token a request carries. */
  readonly identify: Identify['identify'];
}

type Read = Extract<Answer, { kind: 'read' }>;
type Opened = Extract<Answer, { kind: 'stream' }>;

export function createSend(
  options: SendOptions,
): (incoming: { request: Request }, exchange: Exchange, answer: Answer) => Response | Promise<Response> {
  return ({ request }, exchange, answer) => {
    switch (answer.kind) {
      case 'read':
        return sendRead(options, request, exchange, answer);
      case 'written':
        return sendWritten(options, request, exchange, answer);
      case 'raw': {
        const { contentType, body, headers, status = 200 } = answer.raw;
        return respond(exchange, status, body, { 'content-type': contentType, ...headers });
      }
      case 'stream':
        return sendStream(options, request, exchange, answer);
    }
  };
}

function sendRead(
  options: SendOptions,
  request: Request,
  exchange: Exchange,
  { status, body }: Read,
): Response {
  const text = JSON.stringify(body);
  const etag = etagOf((body as { version?: unknown }).version, text);
  return isKnown(etag, request)
    ? respond(exchange, 304, null, { etag })
    : sendText(options, request, exchange, status, text, { etag });
}

/** Whether `If-None-Match` says that the caller has this already. */
function isKnown(etag: string, { headers }: Request): boolean {
  const known = headers.get('if-none-match');
  if (known === null) return false;
  return known.trim() === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

function sendWritten(
  options: SendOptions,
  request: Request,
  exchange: Exchange,
  { status, body, text: known, version, location, isReplay }: WrittenAnswer,
): Response {
  const text = known ?? (body === undefined ? null : JSON.stringify(body));
  const headers: HeaderBag = {};
  if (location !== undefined) headers.location = location;
  if (isReplay) headers['idempotent-replayed'] = 'true';
  if (text === null) return respond(exchange, status, null, headers);
  if (version !== undefined) headers.etag = etagOf(version, text);
  return sendText(options, request, exchange, status, text, headers);
}

/** A large answer is pulled by its reader. */
function sendText(
  { outflow, holdOpen }: SendOptions,
  request: Request,
  exchange: Exchange,
  status: number,
  text: string,
  headers: HeaderBag,
): Response {
  exchange.bytesOut = text.length;
  const { payer } = exchange;
  const body = payer ? outflow.bodyOf(payer, text, () => holdOpen(request)) : text;
  return respondJson(exchange, status, body, headers);
}

async function sendStream(
  { identify, holdOpen }: SendOptions,
  request: Request,
  exchange: Exchange,
  { open, tokenId }: Opened,
): Promise<Response> {
  const connect = (): Connection => ({
    tokenId,
    lastEventId: request.headers.get('last-event-id'),
    isAdmitted: () =>
      identify(request).then(
        (now) => now !== null,
        () => false,
      ),
    hangUp: holdOpen(request).hangUp,
  });
  // The router would wait for the end of the body to tell its length.
  const stream = request.method === 'HEAD' ? null : await open(connect());
  return respond(exchange, 200, stream, {
    'content-type': 'text/event-stream',
    // Proxies that hold answers back until they end would hold this one forever.
    'x-accel-buffering': 'no',
  });
}
