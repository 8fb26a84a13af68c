// Serves a request to a route in the order that all routes and all adapters share: authentication, rate limit, scope, input, execution,
// response. Execution by kind of route is in `work.ts`, writes are in `write.ts`, and the adapters implement `request/request.ts`.
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import { admitTo, admitToPropose, requireFields, requireRecentFields } from './limits/admission.ts';
import type { Narrowing } from '../rights/rights.ts';
import { plainTerms, type ParsedRequest, type Terms } from './call.ts';
import { strangerOf, type BillingAccount } from '../../platform/lib/billing-account.ts';
import type { RequestAdapter, Incoming } from './request/request.ts';
import { newExchange, type Exchange } from './requests.ts';
import { createInputReader } from './request/context-of.ts';
import type { Principal } from './principal.ts';
import { refusalOf } from './response/response.ts';
import { pathOf, takesIfMatch, writesRows, type Route } from './route.ts';
import { workOf, type WorkOptions } from './work.ts';

export interface Kernel {
  serve(route: Route): Serve;
}

/** Serves a request to a route. Never rejects: errors become responses. */
export interface Serve {
  <In extends Incoming, Out>(adapter: RequestAdapter<In, Out>, incoming: In): Promise<Out>;
}

export function createKernel(options: WorkOptions): Kernel {
  const { ids, log, ledger } = options.services;
  return {
    serve(route) {
      const ask = createAsk(route);
      const work = workOf(options.withIds(route), options);
      return async (adapter, incoming) => {
        const exchange = newExchange(ids.next(idPrefixes.request));
        try {
          return await adapter.show(incoming, exchange, await work(await ask(adapter, incoming, exchange)));
        } catch (error) {
          const { requestId } = exchange;
          // The URL of an inbound request may be its only secret, so it is not logged.
          const path = (): string => (route.kind === 'inbound' ? route.path : pathOf(route, incoming.params));
          return adapter.refuse(exchange, refusalOf(log, { requestId, method: route.method, path }, error));
        } finally {
          charge(ledger, exchange);
          exchange.release?.();
        }
      };
    },
  };
}

/** Returns the steps that all kinds of route share: authentication, authorization and input. */
function createAsk(route: Route) {
  const read = createInputReader(route);
  const admit = createAdmit(route);
  const termsOf = createTermsOf(route);
  return async <In extends Incoming>(
    adapter: RequestAdapter<In, unknown>,
    incoming: In,
    exchange: Exchange,
  ): Promise<ParsedRequest> => {
    const { params } = incoming;
    const admitted = adapter.admit(incoming, exchange, route);
    const principal = admitted instanceof Promise ? await admitted : admitted;
    exchange.billingAccount = principal?.scope ?? null;
    const narrowing = admit(adapter, incoming, principal);
    read.checkParams(adapter, incoming);
    const query = read.query(adapter.queryOf(incoming));
    const billingAccount = accountOf(exchange);
    const reading = read.body(adapter, incoming, exchange, billingAccount);
    const body = reading instanceof Promise ? await reading : reading;
    if (narrowing) requireFields(route, narrowing, { body: body?.value, query });
    requireRecentFields(route, principal, body?.value);
    const terms = termsOf(adapter, incoming);
    const input = { params, query, body: body?.value, ifMatch: terms.ifMatch };
    const origin = adapter.originOf(incoming);
    const file = route.kind === 'upload' ? adapter.fileOf(incoming, exchange, billingAccount) : null;
    const rawRequest = rawRequestOf(route, adapter, incoming, { exchange, principal });
    return { exchange, principal, origin, terms, input, file, rawRequest, bodyText: body?.text ?? null };
  };
}

function rawRequestOf<In extends Incoming>(
  route: Route,
  adapter: RequestAdapter<In, unknown>,
  incoming: In,
  { exchange, principal }: Pick<ParsedRequest, 'exchange' | 'principal'>,
): ParsedRequest['rawRequest'] {
  return route.kind === 'inbound' ? adapter.rawRequestOf(incoming, exchange, route, principal) : null;
}

/** Account that the body of a request counts against. */
function accountOf({ billingAccount, peer }: Exchange): BillingAccount {
  return billingAccount ?? strangerOf(peer);
}

function createAdmit(route: Route) {
  const isWrite = writesRows(route);
  return <In extends Incoming>(
    adapter: RequestAdapter<In, unknown>,
    incoming: In,
    principal: Principal | null,
  ): Narrowing | null => {
    if (!isWrite || !adapter.proposes(incoming)) return admitTo(route, principal, incoming.params);
    // A proposal writes nothing itself: narrowed fields apply to the approver.
    admitToPropose(route, principal);
    return null;
  };
}

function createTermsOf(route: Route) {
  const isWrite = writesRows(route);
  const isOfOneVersion = takesIfMatch(route);
  return <In extends Incoming>(adapter: RequestAdapter<In, unknown>, incoming: In): Terms => {
    const terms = isWrite ? adapter.termsOf(incoming) : plainTerms;
    if (!isOfOneVersion) requireUnconditional(terms);
    return terms;
  };
}

/** Rejects a condition that would be ignored, which a client would take for fulfilled. @throws ApiError precondition_failed */
function requireUnconditional({ ifMatch }: Terms): void {
  if (ifMatch !== null)
    throw new ApiError('precondition_failed', 'This operation does not support If-Match. Remove the header.');
}

function charge(ledger: WorkOptions['services']['ledger'], exchange: Exchange): void {
  const { billingAccount, startedMs, waiting, bytesIn, bytesOut } = exchange;
  if (!billingAccount) return;
  const cpuMs = Math.max(0, performance.now() - startedMs - waiting.ms);
  ledger.chargeAll(billingAccount, { requests: 1, cpuMs, bytesIn, bytesOut });
}
