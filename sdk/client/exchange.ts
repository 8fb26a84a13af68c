/** One attempt at a call: the request as it goes out, and what came back or why nothing did. */
import { ApiCallError, errorOf, notTatami } from './error.ts';

export interface Request {
  readonly method: string;
  /** Behind `/api/v1`. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string | null;
}

type Answer<T> = {
  /** False where no server answered in time. */
  readonly isFromServer: boolean;
} & (
  | { readonly value: T }
  | {
      readonly failure: ApiCallError;
      /** How long the server asks to be left alone; null where it says nothing. */
      readonly retryAfterMs: number | null;
    }
);

/** The returned function never rejects for what the server or the network does: that is an answer with a `failure`. */
export function createExchange({
  server,
  timeoutMs = 60_000,
}: {
  readonly server: string;
  readonly timeoutMs?: number;
}): <T>(request: Request) => Promise<Answer<T>> {
  const base = `${server.replace(/\/+$/, '')}/api/v1`;

  return async <T>({ path, ...request }: Request): Promise<Answer<T>> => {
    let response: Response;
    let text: string;
    try {
      response = await fetch(base + path, {
        ...request,
        // A followed redirect turns a POST into a GET, and may carry the token elsewhere.
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      text = await response.text();
    } catch (cause) {
      return { isFromServer: false, failure: unanswered(server, timeoutMs, cause), retryAfterMs: null };
    }
    const { status, headers } = response;
    if (status >= 200 && status < 300) return { isFromServer: true, ...valueOf<T>(status, text) };
    return { isFromServer: true, failure: errorOf(status, text), retryAfterMs: retryAfterMs(headers) };
  };
}

function unanswered(server: string, timeoutMs: number, cause: unknown): ApiCallError {
  if (cause instanceof Error && cause.name === 'TimeoutError')
    return new ApiCallError(0, {
      code: 'timeout',
      message: `${server} did not answer within ${timeoutMs / 1000} s.`,
      cause,
    });
  return new ApiCallError(0, { code: 'unreachable', message: `No server answers at ${server}.`, cause });
}

function valueOf<T>(
  status: number,
  text: string,
): { value: T } | { failure: ApiCallError; retryAfterMs: null } {
  if (text === '') return { value: undefined as T };
  try {
    return { value: JSON.parse(text) as T };
  } catch (cause) {
    return { failure: notTatami(status, cause), retryAfterMs: null };
  }
}

/** Seconds only: the form that Tatami sends (RFC 9110 §10.2.3). */
function retryAfterMs(headers: Headers): number | null {
  const seconds = headers.get('retry-after');
  return seconds !== null && /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : null;
}
