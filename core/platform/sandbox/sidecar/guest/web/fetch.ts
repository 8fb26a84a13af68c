// `fetch` as a host call, with a minimal response object. The host decides which requests may be sent.
import { errorWithName } from './abort.ts';
import { callHost } from '../bridge.ts';
import { GuestHeaders, plainHeaders } from './headers.ts';
import { NativePromise, NativeTypeError, parse, uncurry } from '../harden.ts';
import { GuestUrlSearchParams } from './url.ts';

const upper = uncurry(String.prototype.toUpperCase);

interface Init {
  method?: unknown;
  headers?: unknown;
  body?: unknown;
  signal?: {
    readonly aborted: boolean;
    readonly reason: unknown;
    addEventListener(type: 'abort', listener: () => void): void;
  } | null;
}

interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Response with a buffered body, which can be read more than once. */
class FetchedResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly url: string;
  readonly headers: GuestHeaders;
  readonly redirected = false;
  readonly #body: string;

  constructor(url: string, { status, headers, body }: Answer) {
    this.status = status;
    this.ok = status >= 200 && status <= 299;
    this.url = url;
    this.headers = receivedHeaders(headers);
    this.#body = body;
  }

  async text(): Promise<string> {
    return this.#body;
  }

  async json(): Promise<unknown> {
    return parse(this.#body) as unknown;
  }
}

/** Skips headers that a `Headers` object rejects. */
function receivedHeaders(raw: Answer['headers']): GuestHeaders {
  const headers = new GuestHeaders();
  for (let i = 0; i < raw.length; i++) {
    const [name, value] = raw[i] as readonly [string, string];
    try {
      headers.set(name, value);
    } catch {}
  }
  return headers;
}

export function fetchIn(run: number, input: unknown, raw?: unknown): Promise<unknown> {
  return new NativePromise((resolve, reject) => {
    const init = (raw ?? {}) as Init;
    const { signal } = init;
    if (signal?.aborted) throw signal.reason;
    const url = addressOf(input);
    const { body, type } = bodyOf(init.body);
    const headers = new GuestHeaders(init.headers);
    if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
    const method = upper(`${(init.method ?? 'GET') as string}`);
    if (body !== null && (method === 'GET' || method === 'HEAD'))
      throw new NativeTypeError(
        `A ${method} request cannot have a body. Remove the body, or use another method.`,
      );
    // The host still completes and records the request; this run no longer waits for it.
    signal?.addEventListener('abort', () =>
      reject(signal.reason ?? errorWithName('AbortError', 'The operation was aborted.')),
    );
    const request = { url, method, headers: plainHeaders(headers), body };
    callHost(run, 'net.fetch', [request]).then(
      (answer) => resolve(new FetchedResponse(url, answer as Answer)),
      reject,
    );
  });
}

function addressOf(input: unknown): string {
  if (input !== null && typeof input === 'object' && 'href' in input) return `${input.href as string}`;
  return `${input as string}`;
}

function bodyOf(raw: unknown): { body: string | null; type: string | null } {
  if (raw === undefined || raw === null) return { body: null, type: null };
  if (typeof raw === 'string') return { body: raw, type: 'text/plain;charset=UTF-8' };
  if (raw instanceof GuestUrlSearchParams)
    return { body: raw.toString(), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
  throw new NativeTypeError('A body must be text or URLSearchParams. Convert an object with JSON.stringify.');
}
