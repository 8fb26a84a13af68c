// Serves one request to one route, in the order that every route shares: identity, rate limit, scope, input, idempotency
// key, work, answer. What a write becomes (commit, simulate, stage) is decided here, once, for all of them.
import type { Committer } from '../changes/commit.ts';
import type { ChangeSet } from '../changes/change.ts';
import type { Context, Directory, Services } from '../context.ts';
import { completeBody, hidePending } from '../events/learning.ts';
import { ApiError } from '../lib/errors.ts';
import { jsonPartsMax } from '../lib/json.ts';
import { StoreError, type Scope } from '../store/store.ts';
import {
  answer,
  answerError,
  answerJson,
  etagOf,
  ifMatchVersion,
  newExchange,
  storeRefusal,
  type Exchange,
  type HeaderBag,
} from './answer.ts';
import { admitTo, requireAlso, requireFields, requireRows, visibleTeams } from './admission.ts';
import { announcesBody, bodyBytesMaxDefault, type Bodies, type ReadBody } from './body.ts';
import { createEntrance, type EntranceOptions } from './entrance.ts';
import type { IdempotencyKeys, KeyClaim, KeyedAnswer } from './idempotency.ts';
import type { Outflow } from './outflow.ts';
import type { InProcess, InProcessCalls, Principal } from './principal.ts';
import { checkedKey, modeOf, traceparentOf } from './request-headers.ts';
import type { Connection, Route } from './route.ts';
import { compileCheck, compileQuery, nothingNamed } from './validate.ts';

/** A lost race is planned again this often before the caller is told to. */
const plansMax = 8;

/** How what was found goes back to the caller. */
interface Out {
  readonly exchange: Exchange;
  send(text: string): string | ReadableStream<Uint8Array>;
}

export interface KernelOptions extends EntranceOptions {
  readonly services: Services;
  readonly committer: Committer;
  readonly idempotency: IdempotencyKeys;
  readonly bodies: Bodies;
  readonly outflow: Outflow;
  readonly inProcess: InProcessCalls;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  /** Holds a request's connection open however long it is silent; the answer closes it. */
  readonly holdOpen: (request: Request) => () => void;
}

export interface Kernel {
  serve(route: Route): (request: Request, params: Record<string, string>) => Promise<Response>;
  /** An answer for a request that no route takes. */
  refuse(request: Request, error: ApiError): Promise<Response>;
}

export function createKernel(options: KernelOptions): Kernel {
  const { services, inProcess, bodies, outflow } = options;
  const { identify, admit } = createEntrance(options);

  const fail = (exchange: Exchange, request: Request, error: unknown): Response => {
    if (error instanceof ApiError) return answerError(exchange, error);
    if (error instanceof StoreError) {
      services.log('warn', 'store refused', {
        requestId: exchange.requestId,
        fault: error.fault,
        cause: String(error.cause ?? error.message),
      });
      return answerError(exchange, storeRefusal(error));
    }
    services.log('error', 'request failed', {
      requestId: exchange.requestId,
      method: request.method,
      path: pathOf(request.url),
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return answerError(
      exchange,
      new ApiError('internal_error', 'Something broke on our side. The request id identifies it in the log.'),
    );
  };

  const charge = (exchange: Exchange): void => {
    const { payer, startedMs, away, bytesIn, bytesOut } = exchange;
    if (!payer) return;
    const cpuMs = Math.max(0, performance.now() - startedMs - away.ms);
    services.ledger.chargeAll(payer, { requests: 1, cpuMs, bytesIn, bytesOut });
  };

  return {
    async refuse(request, error) {
      const exchange = newExchange(services.ids.next('request'));
      try {
        await admit(request, exchange, { name: '(no route)', limit: 'read', scope: null });
        return answerError(exchange, error);
      } catch (refused) {
        return fail(
          exchange,
          request,
          refused instanceof ApiError && refused.code === 'unauthorized' ? error : refused,
        );
      }
    },

    serve(route) {
      const checkParams = route.params ? compileCheck(route.params) : null;
      const readQuery = compileQuery(route.query ?? nothingNamed);
      const checkBody = route.body ? compileCheck(route.body) : null;
      const checkNoBody = route.write && !route.body ? compileCheck(nothingNamed) : null;
      const successStatus = Number(Object.keys(route.responses)[0]);
      const bodyLimits = {
        bytesMax: (checkBody && route.bodyBytesMax) ?? bodyBytesMaxDefault,
        partsMax: route.bodyPartsMax ?? jsonPartsMax,
      };
      const emptyQuery = new URLSearchParams();

      const work = async (
        exchange: Exchange,
        request: Request,
        params: Record<string, string>,
      ): Promise<Response> => {
        const local = inProcess.of(request);
        const principal = local ? local.principal : await admit(request, exchange, route);
        exchange.payer = principal?.scope ?? null;
        const narrowing = admitTo(route, principal, params);
        const url = request.url;
        if (checkParams) readParams(checkParams, url, params);
        const mark = url.indexOf('?');
        const query = readQuery(mark < 0 ? emptyQuery : new URLSearchParams(url.slice(mark + 1)));
        const check = checkBody ?? (checkNoBody && announcesBody(request) ? checkNoBody : null);
        const body = check && principal ? await readBody(exchange, principal, request, check) : null;
        const input = {
          params,
          query,
          body: body?.value,
          ifMatch: ifMatchVersion(request.headers.get('if-match')),
        } as Parameters<NonNullable<Route['read']>>[1];
        if (route.raw) {
          const { contentType, body: content, headers = {}, status = 200 } = await route.raw(input);
          return answer(exchange, status, content, { 'content-type': contentType, ...headers });
        }
        if (!principal) throw new Error(`Route ${route.name} is public but needs a context.`);
        if (narrowing) requireFields(route, narrowing, input.body);
        const ctx = await contextFor(principal, local, exchange, request);
        if (route.also) await requireAlso(route, principal, ctx, input);
        if (route.stream) {
          if (local) throw new ApiError('forbidden', 'A plugin cannot do this.');
          // The router would wait for the end of the body to tell its length.
          if (request.method === 'HEAD') return answerStream(exchange, null);
          return answerStream(exchange, await route.stream(ctx, input, connectionOf(request, principal)));
        }
        // What a plugin asks for is read at once.
        const out: Out = local
          ? { exchange, send: (text) => text }
          : {
              exchange,
              send(text) {
                exchange.bytesOut = text.length;
                return outflow.bodyOf(principal.scope, text, () => options.holdOpen(request));
              },
            };
        if (!route.read) return write(ctx, out, request, principal, input, body?.text ?? '');
        if (!local) outflow.requireRoom(principal.scope);
        return answerRead(out, request, successStatus, await route.read(ctx, input));
      };

      const readBody = async (
        exchange: Exchange,
        { scope }: Principal,
        request: Request,
        check: (value: unknown) => void,
      ): Promise<ReadBody> => {
        const askedMs = performance.now();
        exchange.bytesIn = Number(request.headers.get('content-length') ?? 0);
        try {
          const body = await bodies.read(scope, request, bodyLimits, check);
          exchange.bytesIn = body.text.length;
          exchange.release = body.release;
          return body;
        } finally {
          exchange.away.ms += performance.now() - askedMs;
        }
      };

      const connectionOf = (request: Request, { tokenId }: Principal): Connection => ({
        tokenId,
        lastEventId: request.headers.get('last-event-id'),
        isAdmitted: () =>
          identify(request).then(
            (now) => now !== null,
            () => false,
          ),
        hangUp: options.holdOpen(request),
      });

      const contextFor = async (
        principal: Principal,
        local: InProcess | undefined,
        exchange: Exchange,
        request: Request,
      ): Promise<Context> => {
        const known = options.directoryOf(principal.scope);
        const directory = known instanceof Promise ? await known : known;
        return {
          ...services,
          scope: { ...principal.scope, away: exchange.away },
          workspaceId: principal.scope.workspaceId,
          directory,
          actor: principal.actor,
          scopes: principal.scopes,
          narrowed: principal.narrowed,
          visibleTeams: principal.narrowed && visibleTeams(route, principal, directory),
          cause: local?.cause ?? null,
          requestId: exchange.requestId,
          traceparent: local?.traceparent ?? traceparentOf(request.headers.get('traceparent')),
          staged: local?.staged ?? null,
        };
      };

      /** A plan that stays within the rows that the caller may write. */
      const within = (input: Parameters<NonNullable<Route['write']>>[1]) => async (now: Context) => {
        const set = await route.write!(now, input);
        requireRows(route, now, set);
        return set;
      };

      const write = async (
        ctx: Context,
        out: Out,
        request: Request,
        principal: Principal,
        input: Parameters<NonNullable<Route['write']>>[1],
        text: string,
      ): Promise<Response> => {
        const plan = ctx.narrowed === null ? (now: Context) => route.write!(now, input) : within(input);
        if (ctx.staged) {
          const set = await plan(ctx);
          if (set.ops) throw new ApiError('forbidden', 'A plugin cannot do this.');
          ctx.staged.add(set.changes);
          return reply(out, keyed(set, hidePending(set.body)));
        }
        out.exchange.mode = modeOf(request);
        if (out.exchange.mode === 'simulate') {
          const set = await plan(ctx);
          return reply(out, keyed(set, hidePending(set.body)));
        }
        const key = request.headers.get('idempotency-key');
        if (key === null) return reply(out, await commit(ctx, out.exchange, plan, null));
        const claim = options.idempotency.claim(ctx.scope, principal.tokenId, {
          method: request.method,
          path: pathOf(request.url),
          key: checkedKey(key),
          text,
          value: input.body,
          secret: route.secret ?? false,
        });
        try {
          return reply(out, (await claim.replay()) ?? (await commit(ctx, out.exchange, plan, claim)));
        } finally {
          claim.release();
        }
      };

      const commit = async (
        ctx: Context,
        exchange: Exchange,
        plan: (ctx: Context) => Promise<ChangeSet>,
        claim: KeyClaim | null,
      ): Promise<KeyedAnswer> => {
        for (let plans = 0; plans < plansMax; plans++) {
          // Others may have renamed what a plan refers to since the last try.
          const now = plans === 0 ? ctx : { ...ctx, directory: await options.directoryOf(ctx.scope) };
          const set = await plan(now);
          const stored = keyed(set, set.body);
          if (set.changes.length === 0 && !set.ops && !claim) {
            set.adopt?.([]);
            return stored;
          }
          const handedMs = performance.now();
          const committed = await options.committer.commit(
            now,
            set.changes,
            claim?.guards(stored, set.body, madeBy(set)) ?? [],
            set.ops ?? [],
          );
          exchange.away.ms += performance.now() - handedMs;
          if (committed.ok) set.adopt?.(committed.lastRows);
          if (committed.ok)
            return committed.learned.size === 0
              ? stored
              : keyed(set, completeBody(set.body, committed.learned));
          if (committed.part === 'guard') {
            const earlier = await claim?.replay();
            if (earlier) return earlier;
          }
        }
        throw new ApiError(
          'conflict',
          'Others keep changing this at the same time. Read it again, then retry.',
        );
      };

      const keyed = (set: ChangeSet, body: unknown): KeyedAnswer => {
        const status = set.status ?? (set.body === undefined ? 204 : successStatus);
        const text = body === undefined ? null : JSON.stringify(body);
        const headers: HeaderBag = {};
        const { id, version: shown } = (body ?? {}) as { id?: string; version?: number };
        // A creation may show less than the whole object, but not another one.
        const version = shown ?? set.changes.find((change) => change.id === id)?.after.version;
        if (text !== null && version !== undefined) headers.etag = etagOf(version, text);
        if (set.location !== undefined) headers.location = set.location;
        return { status, headers, text };
      };

      const reply = ({ exchange, send }: Out, { status, headers, text }: KeyedAnswer): Response =>
        text === null
          ? answer(exchange, status, null, { ...headers })
          : answerJson(exchange, status, send(text), { ...headers });

      return async (request, params) => {
        const exchange = newExchange(services.ids.next('request'));
        try {
          return await work(exchange, request, params);
        } catch (error) {
          return fail(exchange, request, error);
        } finally {
          charge(exchange);
          exchange.release?.();
        }
      };
    },
  };
}

/** The objects of which a change set makes events, by id. */
function madeBy({ changes }: ChangeSet): ReadonlyMap<string, object> {
  return new Map(changes.filter(({ isSilent }) => !isSilent).map(({ id, after }) => [id, after]));
}

function answerStream(exchange: Exchange, stream: ReadableStream<Uint8Array> | null): Response {
  return answer(exchange, 200, stream, {
    'content-type': 'text/event-stream',
    // Proxies that hold answers back until they end would hold this one forever.
    'x-accel-buffering': 'no',
  });
}

function answerRead({ exchange, send }: Out, request: Request, status: number, body: unknown): Response {
  const text = JSON.stringify(body);
  const etag = etagOf((body as { version?: unknown }).version, text);
  const known = request.headers.get('if-none-match');
  if (
    known !== null &&
    (known.trim() === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
  )
    return answer(exchange, 304, null, { etag });
  return answerJson(exchange, status, send(text), { etag });
}

function readParams(check: (value: unknown) => void, url: string, params: Record<string, string>): void {
  if (url.includes('%')) {
    try {
      decodeURIComponent(pathOf(url));
    } catch {
      throw new ApiError('malformed_request', 'The path holds a broken percent escape.');
    }
  }
  try {
    check(params);
  } catch (error) {
    // An id that cannot exist is answered like one that does not.
    if (error instanceof ApiError) throw new ApiError('not_found');
    throw error;
  }
}

function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const end = url.indexOf('?');
  return url.slice(start, end < 0 ? undefined : end);
}
