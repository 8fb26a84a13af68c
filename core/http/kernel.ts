// Serves one request to one route, in the order that every route and both entrances share: identity, rate limit, scope, input,
// work, answer. What is particular to a kind of route is in `work.ts`, what becomes of a write in `write.ts`, and how requests
// come in and answers go out in the entrances (`entrance.ts`).
import { ApiError } from '../lib/errors.ts';
import { idPrefixes } from '../lib/ids.ts';
import { admitTo, admitToPropose, requireFields } from './admission.ts';
import type { Narrowing } from '../rights/rights.ts';
import { plainTerms, type Asked, type Terms } from './call.ts';
import { strangerOf } from '../lib/payer.ts';
import type { Entrance, Incoming } from './entrance.ts';
import { newExchange, type Exchange } from './exchange.ts';
import { createInputReader } from './input.ts';
import type { Principal } from './principal.ts';
import { refusalOf } from './refusal.ts';
import { pathOf, takesIfMatch, writesRows, type Route } from './route.ts';
import { workOf, type WorkOptions } from './work.ts';

export interface Kernel {
  serve(route: Route): Serve;
}

/** Serves one request to a route. Never rejects: what goes wrong is an answer. */
export interface Serve {
  <In extends Incoming, Out>(entrance: Entrance<In, Out>, incoming: In): Promise<Out>;
}

export function createKernel(options: WorkOptions): Kernel {
  const { ids, log, ledger } = options.services;
  return {
    serve(route) {
      const ask = createAsk(route);
      const work = workOf(options.withIds(route), options);
      return async (entrance, incoming) => {
        const exchange = newExchange(ids.next(idPrefixes.request));
        try {
          return await entrance.show(incoming, exchange, await work(await ask(entrance, incoming, exchange)));
        } catch (error) {
          const { requestId } = exchange;
          // The address of what others send may be all that keeps it secret.
          const path = (): string => (route.kind === 'inbound' ? route.path : pathOf(route, incoming.params));
          return entrance.refuse(exchange, refusalOf(log, { requestId, method: route.method, path }, error));
        } finally {
          charge(ledger, exchange);
          exchange.release?.();
        }
      };
    },
  };
}

/** The steps that all kinds of route share: who asks, whether they may, and what for. */
function createAsk(route: Route) {
  const read = createInputReader(route);
  const admit = createAdmit(route);
  const termsOf = createTermsOf(route);
  return async <In extends Incoming>(
    entrance: Entrance<In, unknown>,
    incoming: In,
    exchange: Exchange,
  ): Promise<Asked> => {
    const { params } = incoming;
    const principal = await entrance.admit(incoming, exchange, route);
    exchange.payer = principal?.scope ?? null;
    const narrowing = admit(entrance, incoming, principal);
    read.checkParams(entrance, incoming);
    const query = read.query(entrance.queryOf(incoming));
    const payer = exchange.payer ?? strangerOf(exchange.peer);
    const reading = read.body(entrance, incoming, exchange, payer);
    const body = reading instanceof Promise ? await reading : reading;
    if (narrowing) requireFields(route, narrowing, { body: body?.value, query });
    const terms = termsOf(entrance, incoming);
    const input = { params, query, body: body?.value, ifMatch: terms.ifMatch };
    const origin = entrance.originOf(incoming);
    const file = route.kind === 'upload' ? entrance.fileOf(incoming, exchange, payer) : null;
    const arrival =
      route.kind === 'inbound' ? entrance.arrivalOf(incoming, exchange, route, principal) : null;
    return { exchange, principal, origin, terms, input, file, arrival, bodyText: body?.text ?? null };
  };
}

function createAdmit(route: Route) {
  const isWrite = writesRows(route);
  return <In extends Incoming>(
    entrance: Entrance<In, unknown>,
    incoming: In,
    principal: Principal | null,
  ): Narrowing | null => {
    if (!isWrite || !entrance.proposes(incoming)) return admitTo(route, principal, incoming.params);
    // Whoever proposes writes nothing: the fields are for who approves.
    admitToPropose(route, principal);
    return null;
  };
}

function createTermsOf(route: Route) {
  const isWrite = writesRows(route);
  const isOfOneVersion = takesIfMatch(route);
  return <In extends Incoming>(entrance: Entrance<In, unknown>, incoming: In): Terms => {
    const terms = isWrite ? entrance.termsOf(incoming) : plainTerms;
    if (!isOfOneVersion) requireUnconditional(terms);
    return terms;
  };
}

/** A condition that is not looked at would pass for one that holds. @throws ApiError precondition_failed */
function requireUnconditional({ ifMatch }: Terms): void {
  if (ifMatch !== null)
    throw new ApiError('precondition_failed', 'This is about no one version. Leave If-Match out.');
}

function charge(ledger: WorkOptions['services']['ledger'], exchange: Exchange): void {
  const { payer, startedMs, away, bytesIn, bytesOut } = exchange;
  if (!payer) return;
  const cpuMs = Math.max(0, performance.now() - startedMs - away.ms);
  ledger.chargeAll(payer, { requests: 1, cpuMs, bytesIn, bytesOut });
}
