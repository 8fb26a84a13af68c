// Reads what a request brings to its route: path parameters, query and body, each by a schema that is compiled once.
import type { TSchema } from 'typebox';
import { ApiError } from '../lib/errors.ts';
import { jsonPartsMax } from '../lib/json.ts';
import { normalizerOf } from '../lib/one-line.ts';
import type { Payer } from '../lib/payer.ts';
import { bodyBytesMaxDefault, type ReadBody } from './body.ts';
import type { Entrance, Incoming } from './entrance.ts';
import type { Exchange } from './exchange.ts';
import type { Route } from './route.ts';
import { compileCheck, compileQuery, nothingNamed, requireStorable } from './validate.ts';

export interface InputReader {
  /** @throws ApiError malformed_request, not_found, of a PUT validation_failed */
  checkParams<In extends Incoming>(entrance: Entrance<In, unknown>, incoming: In): void;
  /** @throws ApiError validation_failed */
  query(texts: Iterable<readonly [name: string, text: string]>): Record<string, unknown>;
  /** Null where there is none to read. Throws, or rejects with, what the entrance does. */
  body<In extends Incoming>(
    entrance: Entrance<In, unknown>,
    incoming: In,
    exchange: Exchange,
    payer: Payer,
  ): ReadBody | Promise<ReadBody> | null;
}

export function createInputReader(route: Route): InputReader {
  const checkParams = route.params ? compileCheck(route.params) : null;
  return {
    checkParams(entrance, incoming) {
      if (!checkParams) return;
      entrance.requirePath(incoming);
      // An id that cannot exist is answered like one that does not.
      orNotFound(() => checkParams(incoming.params));
      const requireEach = (): void => requireStorable(incoming.params);
      // What a PUT names it would make.
      return route.method === 'PUT' ? requireEach() : orNotFound(requireEach);
    },
    // What others send there is theirs to name.
    query: route.kind === 'inbound' ? () => ({}) : compileQuery(route.query ?? nothingNamed),
    body: createBodyReader(route),
  };
}

/** @throws ApiError not_found in place of any other */
function orNotFound(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof ApiError) throw new ApiError('not_found');
    throw error;
  }
}

/** Titles and names are normalized in place where the body is valid. Like the check, that is prepared at the first request. */
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
  // A write that takes no body refuses what is sent all the same, by its name.
  const checkNoBody = route.kind === 'write' && !route.body ? compileCheck(nothingNamed) : null;
  const limits = {
    bytesMax: (checkBody && route.bodyBytesMax) ?? bodyBytesMaxDefault,
    partsMax: route.bodyPartsMax ?? jsonPartsMax,
  };
  return (entrance, incoming, exchange, payer) => {
    const check = checkBody ?? (checkNoBody && entrance.bringsBody(incoming) ? checkNoBody : null);
    if (!check) return null;
    const reading = entrance.readBody(incoming, exchange, payer, limits, check);
    return reading instanceof Promise ? waited(exchange, reading) : noted(exchange, reading);
  };
}

async function waited(exchange: Exchange, reading: Promise<ReadBody>): Promise<ReadBody> {
  const askedMs = performance.now();
  try {
    return noted(exchange, await reading);
  } finally {
    exchange.away.ms += performance.now() - askedMs;
  }
}

function noted(exchange: Exchange, body: ReadBody): ReadBody {
  exchange.bytesIn = body.size;
  exchange.release = body.release;
  return body;
}
