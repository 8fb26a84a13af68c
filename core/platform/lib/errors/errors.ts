// Registry of API errors: codes, HTTP status, meaning and whether a retry helps. docs/spec/errors.md › Codes.

/** One entry per public error code. `retry` is true if sending the same request again can succeed. */
export const errorCodes = {
  malformed_request: {
    status: 400,
    retry: false,
    text: 'The request could not be parsed. Correct its syntax.',
  },
  invalid_cursor: {
    status: 400,
    retry: false,
    text: 'The cursor was not issued for this list, or was altered. Start again without `after`.',
  },
  unauthorized: {
    status: 401,
    retry: false,
    text: 'The request has no valid access token. Send one in the header Authorization.',
  },
  insufficient_scope: {
    status: 403,
    retry: false,
    text: 'The token lacks the scope that this operation needs. Use a token with the scope.',
  },
  recent_sign_in_required: {
    status: 403,
    retry: false,
    text: 'The operation needs a sign-in within the last 10 minutes. Confirm the sign-in, then send the request again.',
  },
  forbidden: {
    status: 403,
    retry: false,
    text: 'The caller is not allowed to perform this operation; see the message for what is needed.',
  },
  not_found: {
    status: 404,
    retry: false,
    text: 'The resource does not exist, or the caller may not see it. Check the id and the rights of the caller.',
  },
  method_not_allowed: {
    status: 405,
    retry: false,
    text: 'The path exists, but not with this method. Use a method from the header Allow.',
  },
  request_timeout: {
    status: 408,
    retry: true,
    text: 'The file arrived more slowly than 1 KiB/s over 10 s. Send it again over a faster connection.',
  },
  conflict: {
    status: 409,
    retry: true,
    text: 'The request conflicts with the current state or with a concurrent change; see the message.',
  },
  history_changed: {
    status: 409,
    retry: false,
    text: 'The position is not in the current event log, because the log was restored; see details for where to continue.',
  },
  transition_not_allowed: {
    status: 409,
    retry: false,
    text: 'The workflow of the team does not allow this transition. Use a state that the details list.',
  },
  idempotency_in_progress: {
    status: 409,
    retry: true,
    text: 'A request with this idempotency key is still running. Send it again later with the same key.',
  },
  gone: {
    status: 410,
    retry: false,
    text: 'Data that the operation needs was removed for good; see the message.',
  },
  precondition_failed: {
    status: 412,
    retry: false,
    text: 'The resource is no longer at the given version. Read it again, then retry.',
  },
  payload_too_large: {
    status: 413,
    retry: false,
    text: 'The request body is larger than allowed. Send less data.',
  },
  unsupported_media_type: { status: 415, retry: false, text: 'The body must be application/json.' },
  range_not_satisfiable: {
    status: 416,
    retry: false,
    text: 'The range starts after the end of the file. Request a range within the file.',
  },
  validation_failed: { status: 422, retry: false, text: 'The request is invalid; see details.' },
  budget_exceeded: {
    status: 422,
    retry: false,
    text: 'The request exceeds the budget of one request; request less data.',
  },
  idempotency_key_reused: {
    status: 422,
    retry: false,
    text: 'The idempotency key was used with a different body or parameter. Use a new key for a new request.',
  },
  rate_limited: { status: 429, retry: true, text: 'Too many requests; wait for Retry-After seconds.' },
  quota_exceeded: {
    status: 429,
    retry: true,
    text: 'The daily quota is used up; wait for Retry-After seconds.',
  },
  internal_error: {
    status: 500,
    retry: true,
    text: 'The server failed to process the request. Send it again later.',
  },
  unavailable: {
    status: 503,
    retry: true,
    text: 'The service is temporarily unavailable. Send the request again later.',
  },
  storage_full: {
    status: 507,
    retry: true,
    text: 'The disk is full; reads still work. Free disk space, then send writes again.',
  },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Values of `issue` in error details (docs/spec/errors.md › Issues of a field). */
export const fieldIssues = [
  'required',
  'invalid_type',
  'invalid_enum',
  'invalid_format',
  'too_small',
  'too_big',
  'too_short',
  'too_long',
  'unknown_field',
  'not_found',
  'already_exists',
  'conflict',
] as const;

export type FieldIssue = (typeof fieldIssues)[number];

/** Entry of `error.details` for one field; `fix` is an instruction, absent if only the caller can know what to do. */
export interface ErrorDetail {
  path: string;
  issue: FieldIssue;
  fix?: string;
  /** Replacement value, for programs. */
  value?: string;
}

/** The only error whose text reaches clients; any other error is a 500 without its text. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string = errorCodes[code].text,
    options: { details?: readonly ErrorDetail[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.details = options.details ?? [];
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return errorCodes[this.code].status;
  }
}

/** Problem of a field and its fix, a sentence each, for problems that do not follow from the fix. */
export interface Wrong {
  readonly why: string;
  readonly fix?: string;
}

/**
 * Returns a 422 for one field.
 * @param words the fix as an instruction (`Give …`, `Use …`), or the problem with an optional fix
 */
export function invalidField(path: string, issue: FieldIssue, words: string | Wrong): ApiError {
  const { why, fix } = typeof words === 'string' ? { why: undefined, fix: words } : words;
  const said = [why, fix].filter((sentence) => sentence !== undefined).join(' ');
  return new ApiError('validation_failed', `${path}: ${said}`, {
    details: [{ path, issue, ...(fix === undefined ? {} : { fix }) }],
  });
}

/** Returns the text of an error about one field: the problem and the fix if the error is about that field alone, otherwise the fix. */
export function wordsOfField(
  { message, details }: { readonly message: string; readonly details: readonly object[] },
  { path, issue, fix = issue }: { readonly path: string; readonly issue: string; readonly fix?: string },
): string {
  const start = `${path}: `;
  return details.length === 1 && message.startsWith(start) ? message.slice(start.length) : fix;
}

/** Returns a 429 with `Retry-After`, rounded up to a whole second. */
export function rateLimited(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError('rate_limited', message, { headers: retryAfterOf(retryAfterSeconds) });
}

export function retryAfterOf(seconds: number): { 'retry-after': string } {
  return { 'retry-after': String(Math.max(1, Math.ceil(seconds))) };
}

/** Returns a 429 for a limit on concurrency. The time when a slot frees up is unknown, so `Retry-After` is its minimum. */
export function tooManyAtOnce(message: string): ApiError {
  return rateLimited(message, 1);
}

/** Returns the same error for missing and invisible objects, so that it does not reveal which applies. */
export function notFound(): ApiError {
  return new ApiError('not_found');
}

/** @param end sequence of the last event */
export const sequenceToCome = (path: string, end: number): ApiError =>
  invalidField(path, 'too_big', {
    why: `The last event has the sequence ${end}.`,
    fix: `Give ${end} or less.`,
  });

export const timeToCome = (path: string, value: string): ApiError =>
  invalidField(path, 'too_big', { why: `${value} is in the future.`, fix: 'Give an earlier time.' });
