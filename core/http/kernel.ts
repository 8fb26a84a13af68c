// Serves one request to one route, in the order that every route shares: identity, rate limit, scope, input, idempotency
// key, work, answer. What is particular to a kind of route is in `work.ts`, what becomes of a write in `write.ts`.
import { ApiError } from '../lib/errors.ts';
import { errorForLog } from '../lib/failures.ts';
import { idPrefixes } from '../lib/ids.ts';
import { StoreError } from '../store/store.ts';
import { admitTo, requireFields } from './admission.ts';
import { answerError, ifMatchVersion, newExchange, storeRefusal, type Exchange } from './answer.ts';
import type { Bodies } from './body.ts';
import type { Asked } from './call.ts';
import { createEntrance, type EntranceOptions } from './entrance.ts';
import { createInputReader } from './input.ts';
import type { InProcessCalls } from './principal.ts';
import { pathOf } from './request-url.ts';
import type { Route } from './route.ts';
import { workOf, type WorkOptions } from './work.ts';

export interface KernelOptions extends EntranceOptions, WorkOptions {
  readonly bodies: Bodies;
  readonly inProcess: InProcessCalls;
}

export interface Kernel {
  serve(route: Route): (request: Request, params: Record<string, string>) => Promise<Response>;
  /** An answer for a request that no route takes. */
  refuse(request: Request, error: ApiError): Promise<Response>;
}

export function createKernel(options: KernelOptions): Kernel {
  const { services } = options;
  const entrance = createEntrance(options);
  return {
    async refuse(request, error) {
      const exchange = newExchange(services.ids.next(idPrefixes.request));
      try {
        await entrance.admit(request, exchange, { name: '(no route)', limit: 'read', scope: null });
        return answerError(exchange, error);
      } catch (refused) {
        const isUnknown = refused instanceof ApiError && refused.code === 'unauthorized';
        return answerFailure(options, exchange, request, isUnknown ? error : refused);
      }
    },
    serve(route) {
      const ask = createAsk(route, options, entrance);
      const work = workOf(route, options, entrance.identify);
      return async (request, params) => {
        const exchange = newExchange(services.ids.next(idPrefixes.request));
        try {
          return await work(await ask(exchange, request, params));
        } catch (error) {
          return answerFailure(options, exchange, request, error);
        } finally {
          charge(options, exchange);
          exchange.release?.();
        }
      };
    },
  };
}

/** The steps that all kinds of route share: who asks, whether they may, and what for. */
function createAsk(
  route: Route,
  { inProcess, bodies }: KernelOptions,
  { admit }: ReturnType<typeof createEntrance>,
): (exchange: Exchange, request: Request, params: Record<string, string>) => Promise<Asked> {
  const read = createInputReader(route, bodies);
  return async (exchange, request, params) => {
    const local = inProcess.of(request);
    const principal = local ? local.principal : await admit(request, exchange, route);
    exchange.payer = principal?.scope ?? null;
    const narrowing = admitTo(route, principal, params);
    read.checkParams(request.url, params);
    const query = read.query(request.url);
    const reading = principal && read.body(exchange, principal.scope, request);
    const body = reading && (await reading);
    if (narrowing) requireFields(route, narrowing, body?.value);
    const ifMatch = ifMatchVersion(request.headers.get('if-match'));
    const input = { params, query, body: body?.value, ifMatch };
    return { exchange, request, principal, local, input, bodyText: body?.text ?? '' };
  };
}

/** The answer to a request that failed; what is not the caller's to mend goes to the log. */
function answerFailure(
  { services: { log } }: KernelOptions,
  exchange: Exchange,
  request: Request,
  error: unknown,
): Response {
  const { requestId } = exchange;
  if (error instanceof ApiError) return answerError(exchange, error);
  if (error instanceof StoreError) {
    log('warn', 'store refused', { requestId, fault: error.fault, error: errorForLog(error) });
    return answerError(exchange, storeRefusal(error));
  }
  log('error', 'request failed', {
    requestId,
    method: request.method,
    path: pathOf(request.url),
    error: errorForLog(error),
  });
  return answerError(
    exchange,
    new ApiError('internal_error', 'Something broke on our side. The request id identifies it in the log.'),
  );
}

function charge({ services }: KernelOptions, exchange: Exchange): void {
  const { payer, startedMs, away, bytesIn, bytesOut } = exchange;
  if (!payer) return;
  const cpuMs = Math.max(0, performance.now() - startedMs - away.ms);
  services.ledger.chargeAll(payer, { requests: 1, cpuMs, bytesIn, bytesOut });
}
