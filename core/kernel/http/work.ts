// Executes an admitted request, by the kind of its route.
import type { Context } from '../context.ts';
import { narrowingOf, readScopeOf } from '../rights/rights.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { strangerOf, type BillingAccount } from '../../platform/lib/billing-account.ts';
import { redact } from '../rights/effects.ts';
import { tooLargeFile } from '../../platform/store/files/blobs.ts';
import { requireCaller, type HandlerAnswer, type ParsedRequest, type WrittenAnswer } from './call.ts';
import { createContextOf, type ContextOptions } from './request/context-of.ts';
import {
  successStatusOf,
  type InboundRoute,
  type RawRoute,
  type ReadRoute,
  type Route,
  type FileRoute,
  type StreamRoute,
  type UploadRoute,
  type WriteRoute,
} from './route.ts';
import { createWrite, type WriteOptions } from './write.ts';

export interface WorkOptions extends ContextOptions, WriteOptions {
  /** Returns the route with handlers that receive ids in place of names. */
  withIds(route: Route): Route;
}

/** Rejects with the error for the caller. */
export type RouteHandler = (request: ParsedRequest) => Promise<HandlerAnswer>;

export function workOf(route: Route, options: WorkOptions): RouteHandler {
  switch (route.kind) {
    case 'raw':
      return rawWork(route);
    case 'read':
      return readWork(route, options);
    case 'write':
      return writeWork(route, options);
    case 'stream':
      return streamWork(route, options);
    case 'upload':
      return uploadWork(route, options);
    case 'inbound':
      return inboundWork(route);
    case 'file':
      return fileWork(route, options);
  }
}

function rawWork(route: RawRoute): RouteHandler {
  return async (request) => ({ kind: 'raw', raw: await route.raw(request.input, senderOf(request)) });
}

/** Returns the account for fair queues: the member, or the client address for a request without a token. */
function senderOf({ principal, exchange: { peer } }: ParsedRequest): BillingAccount {
  return principal?.scope ?? strangerOf(peer);
}

function inboundWork(route: InboundRoute): RouteHandler {
  return async ({ input, rawRequest, exchange }) => {
    if (!rawRequest) throw new Error('An inbound route can be called only over HTTP.');
    const startedMs = performance.now();
    const raw = await route.inbound(input, rawRequest);
    exchange.waiting.ms += performance.now() - startedMs;
    return { kind: 'raw', raw };
  };
}

function readWork(route: ReadRoute, options: WorkOptions): RouteHandler {
  const contextOf = createContextOf(route, options);
  const status = successStatusOf(route);
  return async (request) => {
    requireCaller(request);
    const found = contextOf(request);
    const ctx = found instanceof Promise ? await found : found;
    const body = await route.read(ctx, request.input);
    const shown = ctx.staged ? options.committer.uncommitted(body) : body;
    return { kind: 'read', status, body: redactFor(ctx, route, shown) };
  };
}

/** Redacts a response for a caller with narrowed scopes. */
function redactFor(ctx: Context, { scope }: Route, body: unknown): unknown {
  const narrowing = ctx.narrowed && scope !== null ? narrowingOf(ctx, readScopeOf(scope)) : null;
  return narrowing ? redact(body, narrowing) : body;
}

function writeWork(route: WriteRoute, options: WorkOptions): RouteHandler {
  const contextOf = createContextOf(route, options);
  const write = createWrite(route, options);
  return async (request) => {
    requireCaller(request);
    const ctx = await contextOf(request);
    return writtenTo(ctx, route, await write(request, ctx));
  };
}

/**
 * Redacts the response to a write for a caller with narrowed scopes. The text stored under an idempotency key
 * is not redacted.
 * @throws ApiError not_found if a replayed response belongs to a team that the caller can no longer see
 */
function writtenTo(ctx: Context, route: Route, answer: WrittenAnswer): WrittenAnswer {
  if (ctx.narrowed === null) return answer;
  const body: unknown = answer.text === null ? answer.body : JSON.parse(answer.text);
  if (body === undefined) return answer;
  const visible = redactFor(ctx, route, body);
  if (answer.isReplay && visible === null) throw new ApiError('not_found');
  return { ...answer, body: visible, text: null };
}

function streamWork(route: StreamRoute, options: WorkOptions): RouteHandler {
  const contextOf = createContextOf(route, options);
  return async (request) => {
    requireCaller(request);
    const ctx = await contextOf(request);
    const { principal } = request;
    return { kind: 'stream', principal, open: (connection) => route.stream(ctx, request.input, connection) };
  };
}

function fileWork(route: FileRoute, options: WorkOptions): RouteHandler {
  const contextOf = createContextOf(route, options);
  return async (request) => {
    requireCaller(request);
    return { kind: 'raw', raw: await route.file(await contextOf(request), request.input) };
  };
}

/**
 * Receives the whole file before the write is planned. A file that no committed row refers to is then
 * discarded.
 */
function uploadWork(route: UploadRoute, options: WorkOptions): RouteHandler {
  const contextOf = createContextOf(route, options);
  const { blobs } = options.services;
  return async (request) => {
    requireCaller(request);
    const ctx = await contextOf(request);
    const { file, exchange, input } = request;
    if (!file) throw new Error('An upload must have a file.');
    await route.admitsFile?.(ctx, input, file.announcedBytes);
    if ((file.announcedBytes ?? 0) > blobs.limits.fileBytesMax) throw tooLargeFile(blobs.limits.fileBytesMax);
    const startedMs = performance.now();
    const blob = await blobs.take(file.source).finally(() => {
      exchange.waiting.ms += performance.now() - startedMs;
    });
    exchange.bytesIn = blob.bytes;
    try {
      const sent = { contentType: file.contentType, blob };
      const write = createWrite(
        { ...route, kind: 'write', write: (now, uploadInput) => route.upload(now, uploadInput, sent) },
        options,
      );
      // Idempotency keys compare this text in place of the body.
      const bodyText = JSON.stringify([sent.contentType, blob.sha256]);
      return writtenTo(ctx, route, await write({ ...request, bodyText }, ctx));
    } finally {
      blob.release();
    }
  };
}
