// A small client of the REST API: one call with a token, retried where that is safe. The typed client grows from here.

/** An answer that is not a success; `status` 0 means that no server answered. */
export class ApiCallError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly details: readonly { path: string; issue: string; fix?: string }[];

  constructor(
    status: number,
    body: { code?: string; message?: string; requestId?: string; details?: ApiCallError['details'] },
  ) {
    super(body.message ?? `The server answered ${status}.`);
    this.name = 'ApiCallError';
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.requestId = body.requestId ?? null;
    this.details = body.details ?? [];
  }
}

export interface ClientOptions {
  /** Base address, such as http://127.0.0.1:4700. */
  readonly server: string;
  readonly token: string;
  /** Attempts of one call, the first included. */
  readonly attemptsMax?: number;
  sleep?(ms: number): Promise<void>;
}

export interface Client {
  /** @throws ApiCallError */
  <T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T>;
}

const backoffMs = [200, 1_000, 3_000];
const retryable = new Set(['idempotency_in_progress', 'rate_limited', 'unavailable']);

/** Writes carry an Idempotency-Key that stays the same over their retries, so that none takes effect twice. */
export function createClient(options: ClientOptions): Client {
  const {
    token,
    attemptsMax = 4,
    sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  } = options;
  const base = `${options.server.replace(/\/+$/, '')}/api/v1`;

  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (method !== 'GET') headers['idempotency-key'] = crypto.randomUUID();
    const text = body === undefined ? null : JSON.stringify(body);
    for (let attempt = 1; ; attempt++) {
      let response: Response;
      try {
        response = await fetch(base + path, { method, headers, body: text });
      } catch (error) {
        if (attempt < attemptsMax) {
          await sleep(backoffMs[attempt - 1] ?? 5_000);
          continue;
        }
        throw new ApiCallError(0, {
          code: 'unreachable',
          message: `No server answers at ${options.server}: ${error instanceof Error ? error.message : String(error)}`,
        });
      }
      if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T;
      const failure = await failureOf(response);
      if (attempt >= attemptsMax || !retryable.has(failure.code)) throw failure;
      const after = Number(response.headers.get('retry-after') ?? Number.NaN);
      await sleep(after >= 0 ? after * 1000 : (backoffMs[attempt - 1] ?? 5_000));
    }
  };
}

async function failureOf(response: Response): Promise<ApiCallError> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error: ConstructorParameters<typeof ApiCallError>[1] };
    return new ApiCallError(response.status, error);
  } catch {
    return new ApiCallError(response.status, {
      message: `The server answered ${response.status} without an error body. Is this a Tatami server?`,
    });
  }
}
