// The error registry: every code the API can answer with, its HTTP status, its meaning and whether a retry helps.
// docs/spec/errors.md › Codes.

/** One entry per public error code. `retry` tells a client whether sending the same request again can succeed. */
export const errorCodes = {
  malformed_request: { status: 400, retry: false, text: 'The request could not be parsed.' },
  invalid_cursor: {
    status: 400,
    retry: false,
    text: 'The cursor was not issued for this list, or was altered.',
  },
  unauthorized: { status: 401, retry: false, text: 'No valid access token was sent.' },
  insufficient_scope: { status: 403, retry: false, text: 'The token lacks the scope this operation needs.' },
  forbidden: { status: 403, retry: false, text: 'The caller may not do this.' },
  not_found: { status: 404, retry: false, text: 'There is nothing here that the caller may see.' },
  method_not_allowed: { status: 405, retry: false, text: 'The path exists, but not with this method.' },
  request_timeout: {
    status: 408,
    retry: true,
    text: 'The file arrived more slowly than 1 KiB/s over 10 s.',
  },
  conflict: {
    status: 409,
    retry: true,
    text: 'What is there does not allow this, or changed at the same time; the message says which.',
  },
  history_changed: {
    status: 409,
    retry: false,
    text: 'The log does not go on from there, because it was restored; see details for where to go on.',
  },
  transition_not_allowed: {
    status: 409,
    retry: false,
    text: 'The team does not allow this move between states.',
  },
  idempotency_in_progress: {
    status: 409,
    retry: true,
    text: 'A request with this idempotency key is still running.',
  },
  precondition_failed: { status: 412, retry: false, text: 'The resource is no longer at the version given.' },
  payload_too_large: { status: 413, retry: false, text: 'The request body is larger than allowed.' },
  unsupported_media_type: { status: 415, retry: false, text: 'The body must be application/json.' },
  range_not_satisfiable: { status: 416, retry: false, text: 'The range lies beyond the end of the file.' },
  validation_failed: { status: 422, retry: false, text: 'The request breaks a rule; see details.' },
  budget_exceeded: {
    status: 422,
    retry: false,
    text: 'This would take more than one request may; ask for less.',
  },
  idempotency_key_reused: {
    status: 422,
    retry: false,
    text: 'The idempotency key was used with a different body or parameter.',
  },
  rate_limited: { status: 429, retry: true, text: 'Too many requests; wait for Retry-After seconds.' },
  quota_exceeded: {
    status: 429,
    retry: true,
    text: 'What this may use in a day is used up; wait for Retry-After seconds.',
  },
  internal_error: { status: 500, retry: true, text: 'Something broke on our side.' },
  unavailable: { status: 503, retry: true, text: 'The service cannot do this right now.' },
  storage_full: { status: 507, retry: true, text: 'The disk is full; reads still work.' },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** What can be wrong with one field (docs/spec/errors.md › Issues of a field). */
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

/** A field-level entry of `error.details`; `fix` says what to do about it, and is absent where only the caller can know. */
export interface ErrorDetail {
  path: string;
  issue: FieldIssue;
  fix?: string;
  /** What to give in its place, for programs. */
  value?: string;
}

/** The only error that becomes a client-visible answer as it is; anything else is a 500 without its text. */
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

/** What is wrong with a field where that does not follow from its fix: a sentence each. */
export interface Wrong {
  readonly why: string;
  readonly fix?: string;
}

/**
 * 422 naming one field.
 * @param words the fix, a sentence that says what to do: `Give …`, `Use …`; or what is wrong, with its fix where there is one
 */
export function invalidField(path: string, issue: FieldIssue, words: string | Wrong): ApiError {
  const { why, fix } = typeof words === 'string' ? { why: undefined, fix: words } : words;
  const said = [why, fix].filter((sentence) => sentence !== undefined).join(' ');
  return new ApiError('validation_failed', `${path}: ${said}`, {
    details: [{ path, issue, ...(fix === undefined ? {} : { fix }) }],
  });
}

/**
 * What an error says of one field. Of an error about that field alone this is its message, which says what is wrong and what to do; of one
 * about several, what to do.
 */
export function wordsOfField(
  { message, details }: { readonly message: string; readonly details: readonly object[] },
  { path, issue, fix = issue }: { readonly path: string; readonly issue: string; readonly fix?: string },
): string {
  const start = `${path}: `;
  return details.length === 1 && message.startsWith(start) ? message.slice(start.length) : fix;
}

/** 429 of a limit that admits the request again after some seconds, which `Retry-After` tells. */
export function rateLimited(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError('rate_limited', message, { headers: retryAfterOf(retryAfterSeconds) });
}

export function retryAfterOf(seconds: number): { 'retry-after': string } {
  return { 'retry-after': String(Math.max(1, Math.ceil(seconds))) };
}

/** 429 of a limit on concurrent work. Nobody knows when one of the caller's requests ends, so `Retry-After` is its minimum. */
export function tooManyAtOnce(message: string): ApiError {
  return rateLimited(message, 1);
}

/** The same answer for what does not exist and for what the caller may not see. */
export function notFound(): ApiError {
  return new ApiError('not_found');
}
