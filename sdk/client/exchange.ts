/** One attempt of a call: sends the request, and returns the value or the failure. */
import { apiOf } from './address.ts';
import { ApiCallError, errorOf, notTatami, unreachable } from './error.ts';
import type { Signal } from './options.ts';

export interface Request {
  readonly method: string;
  /** Path after `/api/v1`. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string | null;
}

export type Answer<T> = {
  /** False if no server answered in time. */
  readonly isFromServer: boolean;
} & (
  | { readonly value: T }
  | {
      readonly failure: ApiCallError;
      /** Delay requested by the server; null if none. */
      readonly retryAfterMs: number | null;
    }
);

/** Returns a function that never rejects for server or network errors; these are answers with a `failure`. */
export function createExchange({
  server,
  timeoutMs = 60_000,
  outlivesPage = false,
}: {
  readonly server: string;
  readonly timeoutMs?: number;
  readonly outlivesPage?: boolean;
}): <T>(request: Request, signal?: Signal) => Promise<Answer<T>> {
  const base = apiOf(server);

  return async <T>({ path, ...request }: Request, signal?: Signal): Promise<Answer<T>> => {
    const ended = new AbortController();
    const end = (): void => ended.abort();
    signal?.addEventListener('abort', end);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      end();
    }, timeoutMs);
    let response: Response;
    let text: string;
    try {
      // A followed redirect turns a POST into a GET, and could send the token elsewhere.
      response = await fetch(base + path, {
        ...request,
        redirect: 'manual',
        signal: ended.signal,
        ...(outlivesPage && isSmallWrite(request) && { keepalive: true }),
      });
      text = await response.text();
    } catch (cause) {
      const failure = isLate ? late(server, timeoutMs, cause) : unreachable(server, cause);
      return { isFromServer: false, failure, retryAfterMs: null };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    }
    const { status, headers } = response;
    if (status >= 200 && status < 300) return { isFromServer: true, ...valueOf<T>(status, text) };
    const failure = errorOf(response, text);
    return { isFromServer: true, failure, retryAfterMs: retryAfterMs(headers) };
  };
}

/** Browsers limit all requests that outlive their page to 64 KiB together. */
const keptBodyMax = 4_096;

function isSmallWrite({ method, body }: Omit<Request, 'path'>): boolean {
  return method !== 'GET' && (body?.length ?? 0) <= keptBodyMax;
}

function late(server: string, timeoutMs: number, cause: unknown): ApiCallError {
  const message = `${server} did not answer within ${timeoutMs / 1000} s. Try again later.`;
  return new ApiCallError(0, { code: 'timeout', message, cause });
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

/** Reads seconds only, the format that Tatami sends (RFC 9110 §10.2.3). */
function retryAfterMs(headers: Headers): number | null {
  const seconds = headers.get('retry-after');
  return seconds !== null && /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : null;
}
