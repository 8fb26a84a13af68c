// Sends the request of a command: a write that takes effect once, a file in either direction.
import { apiOf } from '../../../../sdk/client/address.ts';
import { backoffMs } from '../../../../sdk/client/backoff.ts';
import { errorOf, unreachable } from '../../../../sdk/client/error.ts';
import { ApiCallError, type Call, type ChangeOptions } from '../../../../sdk/client/index.ts';
import { tokenNow } from '../../../../sdk/client/token.ts';
import { CommandError, exitCodes, say } from '../lib/output.ts';
import { pathWithQuery } from '../lib/pages.ts';
import type { Remote } from '../lib/remote.ts';
import type { Operation } from './table/operation.ts';

export interface Request {
  /** With the values of the arguments. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** Undefined for no body. */
  readonly body: unknown;
}

/** Further attempts of a write whose connection was lost, after those of the client. */
const attemptsMax = 4;

/** @throws CommandError if it is unknown whether the write took effect */
export function write<T>(
  call: Call,
  method: Operation['method'],
  { path, query, body }: Request,
  terms: ChangeOptions,
): Promise<T> {
  return once(terms, (idempotencyKey) =>
    call<T>(method, pathWithQuery(path, query), body, { ...terms, idempotencyKey }),
  );
}

/**
 * Sends a write until it is known that it took effect, or that it did not.
 * @param send has the same effect once for the same key
 * @throws CommandError with the key for a safe repetition if neither is known
 */
export async function once<T>(
  { idempotencyKey = crypto.randomUUID(), mode }: ChangeOptions,
  send: (idempotencyKey: string) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await send(idempotencyKey);
      if (attempt > 1) say('The repeated request succeeded; the write took effect once.');
      return answer;
    } catch (error) {
      if (isUnanswered(error) && mode !== 'simulate') throw unknownOutcome(error, idempotencyKey);
      // Without a connection, no request was sent. A simulation writes nothing.
      const isUnknown = isLost(error) && mode !== 'simulate' && !(attempt === 1 && isUnconnected(error));
      if (!isUnknown) throw error;
      if (attempt === attemptsMax) throw unknownOutcome(error, idempotencyKey);
      say('The connection was lost during the write. Repeating it with the same idempotency key.');
      await Bun.sleep(backoffMs(attempt));
    }
  }
}

const isLost = (error: unknown): error is ApiCallError => error instanceof ApiCallError && error.status === 0;

/** Returns true where a proxy got no response, or the first request with the key has not ended, after all attempts of the client. */
const isUnanswered = (error: unknown): error is ApiCallError =>
  error instanceof ApiCallError &&
  ([502, 504].includes(error.status) || error.code === 'idempotency_in_progress');

/** Codes of refused connections and of hosts that do not exist. */
const unconnected = new Set(['ConnectionRefused', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

function isUnconnected({ cause }: ApiCallError): boolean {
  const { code = '' } = (cause ?? {}) as { code?: string };
  return unconnected.has(code);
}

function unknownOutcome(cause: ApiCallError, key: string): CommandError {
  return new CommandError(
    `${cause.message} It is unknown whether the write took effect. Run the command again with --idempotency-key ${key}: the write then takes effect at most once.`,
    exitCodes.tryLater,
    { cause },
  );
}

/** Sends a request without the client, for bodies that are not JSON. @throws ApiCallError */
export async function transfer(
  { server, token, access }: Remote,
  { method }: Operation,
  { path, query }: Request,
  init: { readonly body?: Blob; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  const send = async (): Promise<Response> => {
    const headers = { ...init.headers, authorization: `Bearer ${await tokenNow(token)}` };
    const url = apiOf(server) + pathWithQuery(path, query);
    return fetch(url, { method, headers, body: init.body ?? null, redirect: 'manual' }).catch(
      (cause: unknown) => {
        throw unreachable(server, cause);
      },
    );
  };
  let response = await send();
  if (response.status === 401 && access !== null) {
    await access.renew();
    response = await send();
  }
  if (!response.ok) throw errorOf(response, await response.text());
  return response;
}
