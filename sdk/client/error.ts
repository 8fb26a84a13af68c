/** What went wrong with a call, for programs: the status, the code of the error registry and the fields at fault. */
import type { ErrorCode, FieldIssue } from '../generated/errors.ts';

/** Any text, without hiding from an editor the words that are known. */
type Newer = string & {};

/** The last are the client's own: no answer in time, or none of Tatami. */
export type CallErrorCode = ErrorCode | 'unreachable' | 'timeout' | 'not_tatami' | 'unknown' | Newer;

export interface CallErrorDetail {
  readonly path: string;
  readonly issue: FieldIssue | Newer;
  readonly fix?: string;
  /** What to give in its place. */
  readonly value?: string;
}

/** An answer that is not a success; `status` 0 means that no server answered (`code` unreachable or timeout). */
export class ApiCallError extends Error {
  readonly status: number;
  readonly code: CallErrorCode;
  /** What a report to the server's operator should name. */
  readonly requestId: string | null;
  readonly details: readonly CallErrorDetail[];
  /** The address of the page that says what the code means and what to do; null where the server named none. */
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
    super(body.message ?? `The server answered ${status}.`, { cause: body.cause });
    this.name = 'ApiCallError';
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.requestId = body.requestId ?? null;
    this.details = body.details ?? [];
    this.page = body.page ?? null;
  }
}

/** As much of an answer as an error is made of. */
interface Refusal {
  readonly status: number;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
}

/** @param text the body of an answer that is not a success */
export function errorOf(answer: Refusal, text: string): ApiCallError {
  try {
    const { error } = JSON.parse(text) as { error: ConstructorParameters<typeof ApiCallError>[1] };
    return new ApiCallError(answer.status, { ...error, page: pageOf(answer) });
  } catch (cause) {
    return notTatami(answer.status, cause);
  }
}

/** What the answer says it is described by (RFC 8288), as a whole address. */
function pageOf({ url, headers }: Refusal): string | null {
  const [, to] = /<([^>]*)>; *rel="?describedby\b/.exec(headers.get('link') ?? '') ?? [];
  return to === undefined || url === '' ? null : new URL(to, url).href;
}

export function notTatami(status: number, cause: unknown): ApiCallError {
  return new ApiCallError(status, {
    code: 'not_tatami',
    message: `The server answered ${status} in a form that Tatami does not use. Is this the address of a Tatami server?`,
    cause,
  });
}

export function unreachable(server: string, cause: unknown): ApiCallError {
  return new ApiCallError(0, { code: 'unreachable', message: `No server answers at ${server}.`, cause });
}
