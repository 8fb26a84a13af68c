// Reads what a request brings to its route: path parameters, query and body, each by a schema that is compiled once, when the
// route is mounted.
import { ApiError } from '../lib/errors.ts';
import { jsonPartsMax } from '../lib/json.ts';
import type { Payer } from '../lib/payer.ts';
import type { Exchange } from './answer.ts';
import { announcesBody, bodyBytesMaxDefault, type Bodies, type ReadBody } from './body.ts';
import { pathOf } from './request-url.ts';
import type { Route } from './route.ts';
import { compileCheck, compileQuery, nothingNamed } from './validate.ts';

export interface InputReader {
  /** @throws ApiError malformed_request, not_found */
  checkParams(url: string, params: Record<string, string>): void;
  /** @throws ApiError validation_failed */
  query(url: string): Record<string, unknown>;
  /** Null where there is none to read. Rejects with what `Bodies` throws. */
  body(exchange: Exchange, payer: Payer, request: Request): Promise<ReadBody> | null;
}

const emptyQuery = new URLSearchParams();

export function createInputReader(route: Route, bodies: Bodies): InputReader {
  const checkParams = route.params ? compileCheck(route.params) : null;
  const readQuery = compileQuery(route.query ?? nothingNamed);
  return {
    checkParams(url, params) {
      if (checkParams) readParams(checkParams, url, params);
    },
    query(url) {
      const mark = url.indexOf('?');
      return readQuery(mark < 0 ? emptyQuery : new URLSearchParams(url.slice(mark + 1)));
    },
    body: createBodyReader(route, bodies),
  };
}

function createBodyReader(route: Route, bodies: Bodies): InputReader['body'] {
  const checkBody = route.body ? compileCheck(route.body) : null;
  // A write that takes no body refuses what is sent all the same, by its name.
  const checkNoBody = route.kind === 'write' && !route.body ? compileCheck(nothingNamed) : null;
  const limits = {
    bytesMax: (checkBody && route.bodyBytesMax) ?? bodyBytesMaxDefault,
    partsMax: route.bodyPartsMax ?? jsonPartsMax,
  };
  const read = async (
    exchange: Exchange,
    payer: Payer,
    request: Request,
    check: (value: unknown) => void,
  ): Promise<ReadBody> => {
    const askedMs = performance.now();
    exchange.bytesIn = Number(request.headers.get('content-length') ?? 0);
    try {
      const body = await bodies.read(payer, request, limits, check);
      exchange.bytesIn = body.text.length;
      exchange.release = body.release;
      return body;
    } finally {
      exchange.away.ms += performance.now() - askedMs;
    }
  };
  return (exchange, payer, request) => {
    const check = checkBody ?? (checkNoBody && announcesBody(request) ? checkNoBody : null);
    return check && read(exchange, payer, request, check);
  };
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
