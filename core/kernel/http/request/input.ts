// Reads the input of a route: path parameters, query and body, each validated by a schema that is compiled once.
import type { TSchema } from 'typebox';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { jsonPartsMax } from '../../../platform/lib/json/json.ts';
import { normalizerOf } from '../../../platform/lib/text/printable.ts';
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';
import { bodyBytesMaxDefault, type ReadBody } from './body.ts';
import type { RequestAdapter, Incoming } from './request-adapter.ts';
import type { Exchange } from '../exchange.ts';
import type { Route } from '../route.ts';
import { compileCheck, compileQuery, noInput, requireStorable } from './validate.ts';

export interface InputReader {
  /** @throws ApiError malformed_request, not_found; for a PUT validation_failed */
  checkParams<In extends Incoming>(adapter: RequestAdapter<In, unknown>, incoming: In): void;
  /** @throws ApiError validation_failed */
  query(texts: Iterable<readonly [name: string, text: string]>): Record<string, unknown>;
  /** Returns null if the route reads no body. Throws, or rejects with, the errors of the adapter. */
  body<In extends Incoming>(
    adapter: RequestAdapter<In, unknown>,
    incoming: In,
    exchange: Exchange,
    billingAccount: BillingAccount,
  ): ReadBody | Promise<ReadBody> | null;
}

export function createInputReader(route: Route): InputReader {
  const checkParams = route.params ? compileCheck(route.params) : null;
  return {
    checkParams(adapter, incoming) {
      if (!checkParams) return;
      adapter.requirePath(incoming);
      // An id in a wrong format gets the same response as one that does not exist.
      orNotFound(() => checkParams(incoming.params));
      const requireEach = (): void => requireStorable(incoming.params);
      // A PUT may create the object that the path names, so its name is validated like a field.
      return route.method === 'PUT' ? requireEach() : orNotFound(requireEach);
    },
    // Inbound requests may have any query parameters, so none are validated.
    query: route.kind === 'inbound' ? () => ({}) : compileQuery(route.query ?? noInput),
    body: createBodyReader(route),
  };
}

/** @throws ApiError not_found in place of any other ApiError */
function orNotFound(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof ApiError) throw new ApiError('not_found');
    throw error;
  }
}

/** Normalizes titles and names in place after the body is validated. Like the check, the normalizer is created on first use. */
function checkAndNormalize(schema: TSchema): (value: unknown) => void {
  const check = compileCheck(schema);
  let normalize: ReturnType<typeof normalizerOf> | undefined;
  return (value) => {
    check(value);
    if (normalize === undefined) normalize = normalizerOf(schema);
    normalize?.(value);
  };
}

function createBodyReader(route: Route): InputReader['body'] {
  const checkBody = route.body ? checkAndNormalize(route.body) : null;
  // A write without a body rejects a body with fields; the error names them.
  const checkNoBody = route.kind === 'write' && !route.body ? compileCheck(noInput) : null;
  const limits = {
    bytesMax: (checkBody && route.bodyBytesMax) ?? bodyBytesMaxDefault,
    partsMax: route.bodyPartsMax ?? jsonPartsMax,
  };
  return (adapter, incoming, exchange, billingAccount) => {
    const check = checkBody ?? (checkNoBody && adapter.bringsBody(incoming) ? checkNoBody : null);
    if (!check) return null;
    const reading = adapter.readBody(incoming, exchange, billingAccount, limits, check);
    return reading instanceof Promise ? waited(exchange, reading) : noted(exchange, reading);
  };
}

async function waited(exchange: Exchange, reading: Promise<ReadBody>): Promise<ReadBody> {
  const startedMs = performance.now();
  try {
    return noted(exchange, await reading);
  } finally {
    exchange.waiting.ms += performance.now() - startedMs;
  }
}

function noted(exchange: Exchange, body: ReadBody): ReadBody {
  exchange.bytesIn = body.size;
  exchange.release = body.release;
  return body;
}
