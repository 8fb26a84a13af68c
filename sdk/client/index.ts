/** A small client of the REST API: one call with a token, retried where that is safe. The typed client grows from here. */
import { ApiCallError, errorOf, notTatami } from './error.ts';

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

const backoffMs = [200, 1_000, 3_000, 10_000];
/** A server that asks for more than this gets the call's failure instead of our patience. */
const retryAfterMsMax = 120_000;
const retryableStatus = new Set([0, 429, 500, 502, 503, 504]);

/** Writes carry an Idempotency-Key that stays the same over their retries, so that none takes effect twice. */
export function createClient(options: ClientOptions): Client {
  const {
    token,
    attemptsMax = 5,
    timeoutMs = 60_000,
    sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    onWait,
  } = options;
  const base = `${options.server.replace(/\/+$/, '')}/api/v1`;
  // Before the first answer a refused connection means a wrong address rather than a restart: not worth waiting for.
  let answered = false;

  const exchange = async (method: string, path: string, headers: Headers, body: string | null) => {
    try {
      const response = await fetch(base + path, {
        method,
        headers,
        body,
        // A followed redirect turns a POST into a GET, and may carry the token elsewhere.
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      answered = true;
      return { status: response.status, headers: response.headers, text };
    } catch (cause) {
      const timedOut = cause instanceof Error && cause.name === 'TimeoutError';
      throw new ApiCallError(0, {
        code: timedOut ? 'timeout' : 'unreachable',
        message: timedOut
          ? `${options.server} did not answer within ${timeoutMs / 1000} s.`
          : `No server answers at ${options.server}.`,
        cause,
      });
    }
  };

  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const headers = new Headers({ authorization: `Bearer ${token}` });
    if (body !== undefined) headers.set('content-type', 'application/json');
    if (method !== 'GET') headers.set('idempotency-key', crypto.randomUUID());
    const text = body === undefined ? null : JSON.stringify(body);
    for (let attempt = 1; ; attempt++) {
      let failure: ApiCallError;
      let waitMs = backoffMs[attempt - 1] ?? 10_000;
      try {
        const answer = await exchange(method, path, headers, text);
        if (answer.status >= 200 && answer.status < 300) return parse<T>(answer);
        failure = errorOf(answer.status, answer.text);
        waitMs = retryAfterMs(answer.headers) ?? waitMs;
      } catch (error) {
        if (!(error instanceof ApiCallError)) throw error;
        failure = error;
      }
      const passing = retryableStatus.has(failure.status) || failure.code === 'idempotency_in_progress';
      if (!answered || !passing || attempt >= attemptsMax || waitMs > retryAfterMsMax) throw failure;
      onWait?.(waitMs, failure);
      await sleep(waitMs);
    }
  };
}

function parse<T>({ status, text }: { status: number; text: string }): T {
  if (text === '') return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw notTatami(status);
  }
}

/** Seconds only: the form that Tatami sends (RFC 9110 §10.2.3). */
function retryAfterMs(headers: Headers): number | null {
  const seconds = headers.get('retry-after');
  return seconds !== null && /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : null;
}
