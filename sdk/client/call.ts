/** One call of the REST API, with a token and with retries where they are safe. */
import { backoffMs } from './backoff.ts';
import { ApiCallError } from './error.ts';
import { createExchange, type Answer, type Request } from './exchange.ts';
import type { ChangeOptions, Signal } from './options.ts';
import { pause } from './pause.ts';
import { tokenNow, type Token } from './token.ts';

export interface ClientOptions {
  /** Base URL, such as http://127.0.0.1:4700. */
  readonly server: string;
  readonly token: Token;
  /** Attempts per call, including the first; default 5. */
  readonly attemptsMax?: number;
  /** Timeout of one attempt; default 60 s. */
  readonly timeoutMs?: number;
  /** Completes small writes in flight when the page of the browser is closed; default false. */
  readonly outlivesPage?: boolean;
  /** Replaces waiting in tests. */
  sleep?(ms: number, signal?: Signal): Promise<void>;
  /** Called before each wait, for example to show the reason to a person. */
  onWait?(waitMs: number, reason: ApiCallError): void;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Calls any path after `/api/v1`, for endpoints without a dedicated method. @throws ApiCallError */
export interface Call {
  <T>(method: Method, path: string, body?: unknown, options?: ChangeOptions): Promise<T>;
}

/** A longer `Retry-After` fails the call instead of being waited for. */
const retryAfterMsMax = 120_000;
const retryableStatus = new Set([0, 429, 500, 502, 503, 504]);

/**
 * Returns a function that calls the API. Writes have an Idempotency-Key that stays the same across their
 * retries, so none takes effect twice.
 */
export function createCall(options: ClientOptions): Call {
  const { attemptsMax = 5, sleep = pause, onWait } = options;
  const exchange = createExchange(options);
  // Before the first response a refused connection means a wrong address and not a restart, so it is not retried.
  let answered = false;

  return async <T>(method: Method, path: string, body?: unknown, terms: ChangeOptions = {}): Promise<T> => {
    const { signal } = terms;
    const request = requestOf(method, path, body, terms);
    for (let attempt = 1; ; attempt++) {
      throwIfOver(signal);
      const answer = await withToken(request, options.token, () => exchange<T>(request, signal));
      answered ||= answer.isFromServer;
      if ('value' in answer) return answer.value;
      throwIfOver(signal);
      const { failure } = answer;
      const waitMs = answer.retryAfterMs ?? backoffMs(attempt - 1);
      const isWorthIt = answered && attempt < attemptsMax && waitMs <= retryAfterMsMax && isPassing(failure);
      if (!isWorthIt) throw failure;
      onWait?.(waitMs, failure);
      await sleep(waitMs, signal);
    }
  };
}

/**
 * Sends a request with the token, and again with another one if the server rejects it.
 * @throws errors of the token function
 */
async function withToken<T>(
  request: Request,
  token: Token,
  send: () => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const answer = (await withoutToken(request, token)) ?? (await send());
  const isRejected = 'failure' in answer && answer.failure.status === 401 && typeof token === 'function';
  if (!isRejected) return answer;
  const header = request.headers.get('authorization');
  const failed = await withoutToken(request, token, header?.slice('Bearer '.length));
  if (failed) return failed;
  return request.headers.get('authorization') === header ? answer : send();
}

/**
 * Sets the token of the request.
 * @returns null, or the failed answer if no token is available now
 * @throws errors of the token function
 */
async function withoutToken(
  { headers }: Request,
  token: Token,
  rejected?: string,
): Promise<Answer<never> | null> {
  try {
    headers.set('authorization', `Bearer ${await tokenNow(token, rejected)}`);
    return null;
  } catch (failure) {
    if (!(failure instanceof ApiCallError)) throw failure;
    return { isFromServer: false, failure, retryAfterMs: null };
  }
}

function requestOf(
  method: Method,
  path: string,
  body: unknown,
  { idempotencyKey, ifVersion, mode }: ChangeOptions,
): Request {
  const headers = new Headers();
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (method !== 'GET') headers.set('idempotency-key', idempotencyKey ?? crypto.randomUUID());
  if (ifVersion !== undefined) headers.set('if-match', `"${ifVersion}"`);
  if (mode !== undefined) headers.set('tatami-mode', mode);
  return { method, path, headers, body: body === undefined ? null : JSON.stringify(body) };
}

function isPassing({ status, code }: ApiCallError): boolean {
  return retryableStatus.has(status) || code === 'idempotency_in_progress';
}

function throwIfOver(signal: Signal | undefined): void {
  if (signal?.aborted === true) throw signal.reason;
}
