/** Error of a call: status, code of the error registry, and fields at fault. */
import type { ErrorCode, FieldIssue } from '../generated/errors.ts';

/** Accepts any string, while editors still suggest the known codes. */
type Newer = string & {};

/**
 * `unreachable`, `timeout`, `not_tatami` and `unknown` come from the client: no response in time, or none from
 * Tatami.
 */
export type CallErrorCode = ErrorCode | 'unreachable' | 'timeout' | 'not_tatami' | 'unknown' | Newer;

export interface CallErrorDetail {
  readonly path: string;
  readonly issue: FieldIssue | Newer;
  readonly fix?: string;
  /** Value that the server suggests instead. */
  readonly value?: string;
}

/** Unsuccessful response; `status` 0 means that no server answered (`code` unreachable or timeout). */
export class ApiCallError extends Error {
  readonly status: number;
  readonly code: CallErrorCode;
  /** Id of the request, for a report to the operator of the server. */
  readonly requestId: string | null;
  readonly details: readonly CallErrorDetail[];
  /** URL of the page that explains the code and the remedy; null if the server named none. */
  readonly page: string | null;

  constructor(
    status: number,
    body: {
      code?: string;
      message?: string;
      requestId?: string;
      details?: readonly CallErrorDetail[];
      page?: string | null;
      cause?: unknown;
    },
  ) {
    super(body.message ?? `The server answered ${status}. See the log of the server for the reason.`, {
      cause: body.cause,
    });
    this.name = 'ApiCallError';
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.requestId = body.requestId ?? null;
    this.details = body.details ?? [];
    this.page = body.page ?? null;
  }
}

/** Parts of a response that an error needs. */
interface Refusal {
  readonly status: number;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
}

/** @param text body of the unsuccessful response */
export function errorOf(answer: Refusal, text: string): ApiCallError {
  try {
    const { error } = JSON.parse(text) as { error: ConstructorParameters<typeof ApiCallError>[1] };
    return new ApiCallError(answer.status, { ...error, page: pageOf(answer) });
  } catch (cause) {
    return notTatami(answer.status, cause);
  }
}

/** Returns the absolute URL of the `describedby` link (RFC 8288). */
function pageOf({ url, headers }: Refusal): string | null {
  const [, to] = /<([^>]*)>; *rel="?describedby\b/.exec(headers.get('link') ?? '') ?? [];
  return to === undefined || url === '' ? null : new URL(to, url).href;
}

export function notTatami(status: number, cause: unknown): ApiCallError {
  return new ApiCallError(status, {
    code: 'not_tatami',
    message: `The server answered ${status} in a format that Tatami does not use. Check that the address is that of a Tatami server.`,
    cause,
  });
}

export function unreachable(server: string, cause: unknown): ApiCallError {
  return new ApiCallError(0, {
    code: 'unreachable',
    message: `No server answers at ${server}. Check its address, and that it runs.`,
    cause,
  });
}
