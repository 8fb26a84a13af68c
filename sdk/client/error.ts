/** What went wrong with a call, for programs: the status, the code of the error registry and the fields at fault. */

export interface CallErrorDetail {
  readonly path: string;
  readonly issue: string;
  readonly fix?: string;
  /** What to give in its place. */
  readonly value?: string;
}

/** An answer that is not a success; `status` 0 means that no server answered (`code` unreachable or timeout). */
export class ApiCallError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly details: readonly CallErrorDetail[];

  constructor(
    status: number,
    body: {
      code?: string;
      message?: string;
      requestId?: string;
      details?: readonly CallErrorDetail[];
      cause?: unknown;
    },
  ) {
    super(body.message ?? `The server answered ${status}.`, { cause: body.cause });
    this.name = 'ApiCallError';
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.requestId = body.requestId ?? null;
    this.details = body.details ?? [];
  }
}

/** @param text the body of an answer that is not a success */
export function errorOf(status: number, text: string): ApiCallError {
  try {
    const { error } = JSON.parse(text) as { error: ConstructorParameters<typeof ApiCallError>[1] };
    return new ApiCallError(status, error);
  } catch (cause) {
    return notTatami(status, cause);
  }
}

export function notTatami(status: number, cause: unknown): ApiCallError {
  return new ApiCallError(status, {
    code: 'not_tatami',
    message: `The server answered ${status} in a form that Tatami does not use. Is this the address of a Tatami server?`,
    cause,
  });
}
