/** A small client of the REST API: one call with a token, retried where that is safe. The typed client grows from here. */
import type { ApiCallError } from './error.ts';
import { createExchange, type Request } from './exchange.ts';

export type { Page } from '../page.ts';
export type * from '../types/index.ts';
export { ApiCallError } from './error.ts';
export type { CallErrorDetail } from './error.ts';
export { streamEvents } from './stream.ts';
export type { StreamedEvent, StreamOptions } from './stream.ts';

export interface ClientOptions {
  /** Base address, such as http://127.0.0.1:4700. */
  readonly server: string;
  readonly token: string;
  /** Attempts of one call, the first included; by default 5. */
  readonly attemptsMax?: number;
  /** Of one attempt; by default 60 s. */
  readonly timeoutMs?: number;
  sleep?(ms: number): Promise<void>;
  /** Told before each wait, so that a person knows why nothing moves. */
  onWait?(waitMs: number, reason: ApiCallError): void;
}

export interface Client {
  /** @throws ApiCallError */
  <T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T>;
}

const backoffMsMax = 10_000;
const backoffMs = [200, 1_000, 3_000, backoffMsMax];
/** A server that asks for more than this gets the call's failure instead of our patience. */
const retryAfterMsMax = 120_000;
const retryableStatus = new Set([0, 429, 500, 502, 503, 504]);

/** Writes carry an Idempotency-Key that stays the same over their retries, so that none takes effect twice. */
export function createClient(options: ClientOptions): Client {
  const { attemptsMax = 5, sleep = pause, onWait } = options;
  const exchange = createExchange(options);
  // Before the first answer a refused connection means a wrong address rather than a restart: not worth waiting for.
  let answered = false;

  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const request = requestOf(options.token, method, path, body);
    for (let attempt = 1; ; attempt++) {
      const answer = await exchange<T>(request);
      answered ||= answer.isFromServer;
      if ('value' in answer) return answer.value;
      const { failure } = answer;
      const waitMs = answer.retryAfterMs ?? backoffMs[attempt - 1] ?? backoffMsMax;
      const isWorthIt = answered && attempt < attemptsMax && waitMs <= retryAfterMsMax && isPassing(failure);
      if (!isWorthIt) throw failure;
      onWait?.(waitMs, failure);
      await sleep(waitMs);
    }
  };
}

function requestOf(token: string, method: string, path: string, body: unknown): Request {
  const headers = new Headers({ authorization: `Bearer ${token}` });
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (method !== 'GET') headers.set('idempotency-key', crypto.randomUUID());
  return { method, path, headers, body: body === undefined ? null : JSON.stringify(body) };
}

function isPassing({ status, code }: ApiCallError): boolean {
  return retryableStatus.has(status) || code === 'idempotency_in_progress';
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
