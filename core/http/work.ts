// What each kind of route does with a call, and how what comes of it goes back to the caller.
import { ApiError } from '../lib/errors.ts';
import { answer, answerJson, etagOf } from './answer.ts';
import { requireCaller, type Asked, type Call } from './call.ts';
import { createContextOf, type ContextOptions } from './context-of.ts';
import type { Outflow } from './outflow.ts';
import type { Principal } from './principal.ts';
import {
  successStatusOf,
  type Connection,
  type RawRoute,
  type ReadRoute,
  type Route,
  type StreamRoute,
  type WriteRoute,
} from './route.ts';
import { createWrite, type WriteOptions } from './write.ts';

export interface WorkOptions extends ContextOptions, WriteOptions {
  readonly outflow: Outflow;
  /** Holds a request's connection open however long it is silent; the answer closes it. */
  readonly holdOpen: (request: Request) => () => void;
}

/** Rejects with the error that the caller is to be told. */
export type Work = (asked: Asked) => Promise<Response>;

/** @param identify finds out anew whose token a request carries */
export function workOf(
  route: Route,
  options: WorkOptions,
  identify: (request: Request) => Promise<Principal | null>,
): Work {
  switch (route.kind) {
    case 'raw':
      return rawWork(route);
    case 'read':
      return readWork(route, options);
    case 'write':
      return writeWork(route, options);
    case 'stream':
      return streamWork(route, options, identify);
  }
}

function rawWork(route: RawRoute): Work {
  return async ({ exchange, input }) => {
    const { contentType, body, headers = {}, status = 200 } = await route.raw(input);
    return answer(exchange, status, body, { 'content-type': contentType, ...headers });
  };
}

function readWork(route: ReadRoute, options: WorkOptions): Work {
  const contextOf = createContextOf(route, options);
  const status = successStatusOf(route);
  return async (asked) => {
    requireCaller(asked);
    const ctx = await contextOf(asked);
    if (!asked.local) options.outflow.requireRoom(ctx.scope);
    const body = await route.read(ctx, asked.input);
    const text = JSON.stringify(body);
    const etag = etagOf((body as { version?: unknown }).version, text);
    return isKnown(etag, asked.request)
      ? answer(asked.exchange, 304, null, { etag })
      : answerJson(asked.exchange, status, sent(asked, text, options), { etag });
  };
}

/** Whether `If-None-Match` says that the caller has this already. */
function isKnown(etag: string, { headers }: Request): boolean {
  const known = headers.get('if-none-match');
  if (known === null) return false;
  return known.trim() === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

function writeWork(route: WriteRoute, options: WorkOptions): Work {
  const contextOf = createContextOf(route, options);
  const write = createWrite(route, options);
  return async (asked) => {
    requireCaller(asked);
    const ctx = await contextOf(asked);
    const { status, headers, text } = await write(asked, ctx);
    return text === null
      ? answer(asked.exchange, status, null, { ...headers })
      : answerJson(asked.exchange, status, sent(asked, text, options), { ...headers });
  };
}

/** The text as it goes out. What a plugin asks for is read at once; a large answer to others is pulled by its reader. */
function sent(
  { local, exchange, principal, request }: Call,
  text: string,
  { outflow, holdOpen }: WorkOptions,
): string | ReadableStream<Uint8Array> {
  if (local) return text;
  exchange.bytesOut = text.length;
  return outflow.bodyOf(principal.scope, text, () => holdOpen(request));
}

function streamWork(
  route: StreamRoute,
  options: WorkOptions,
  identify: (request: Request) => Promise<Principal | null>,
): Work {
  const contextOf = createContextOf(route, options);
  const connectionOf = ({ request, principal: { tokenId } }: Call): Connection => ({
    tokenId,
    lastEventId: request.headers.get('last-event-id'),
    isAdmitted: () =>
      identify(request).then(
        (now) => now !== null,
        () => false,
      ),
    hangUp: options.holdOpen(request),
  });
  return async (asked) => {
    requireCaller(asked);
    const ctx = await contextOf(asked);
    if (asked.local) throw new ApiError('forbidden', 'A plugin cannot do this.');
    // The router would wait for the end of the body to tell its length.
    const isHead = asked.request.method === 'HEAD';
    const stream = isHead ? null : await route.stream(ctx, asked.input, connectionOf(asked));
    return answer(asked.exchange, 200, stream, {
      'content-type': 'text/event-stream',
      // Proxies that hold answers back until they end would hold this one forever.
      'x-accel-buffering': 'no',
    });
  };
}
