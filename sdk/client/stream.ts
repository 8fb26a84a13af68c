/**
 * Events as they happen, from `GET /api/v1/events/stream`: each once and in order, through restarts of the server and broken
 * connections, because the stream is taken up again behind the last event that was read.
 */
import { ApiCallError, errorOf } from './error.ts';
import { createSseParser, type SseMessage } from './sse.ts';

export interface StreamOptions {
  /** Base address, such as http://127.0.0.1:4700. */
  readonly server: string;
  readonly token: string;
  /** Event types, or patterns such as `issue.*`; by default all that the token may read. */
  readonly types?: readonly string[];
  /** Begin behind this sequence; by default with what happens from now on. */
  readonly after?: number;
  /** Samples as well (`POST /events/samples`). */
  readonly samples?: boolean;
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal;
  sleep?(ms: number): Promise<void>;
  /** Connected, for the first time or again: what happens from now on is read. */
  onOpen?(): void;
  /** Told before each wait, so that a person knows why nothing comes. */
  onWait?(waitMs: number, reason: ApiCallError): void;
}

export interface StreamedEvent {
  /** Null for a sample, which never happened. */
  readonly sequence: number | null;
  readonly type: string;
  /** The event, in the bytes of the feed. */
  readonly payload: string;
}

const backoffMs = [200, 1_000, 3_000, 10_000];
/** The server gives a sign of life every 15 s; silence for longer than this is a connection that died unnoticed. */
const silenceMsMax = 60_000;

/** @throws ApiCallError where trying again will not help, and where no server answers the first time */
export async function* streamEvents(options: StreamOptions): AsyncGenerator<StreamedEvent, void, void> {
  const { signal, onOpen, onWait } = options;
  const sleep = options.sleep ?? ((ms: number) => pause(ms, signal));
  let position = options.after ?? null;
  let opened = false;
  for (let failures = 0; !isOver(signal); failures++) {
    let reason: ApiCallError;
    try {
      let isFirst = true;
      for await (const message of connection(options, position)) {
        if (message.data !== null) failures = 0;
        const sequence = message.id === null ? null : Number(message.id);
        const isKnown = sequence !== null && position !== null && sequence <= position;
        position = sequence ?? position;
        // Not before the server has said where the stream stands: from here on nothing is missed.
        if (isFirst) {
          isFirst = false;
          opened = true;
          onOpen?.();
        }
        if (message.data !== null && !isKnown) yield { sequence, type: message.event, payload: message.data };
      }
      reason = new ApiCallError(0, { code: 'unreachable', message: 'The stream ended.' });
    } catch (error) {
      if (isOver(signal)) return;
      if (!(error instanceof ApiCallError) || !isPassing(error, opened)) throw error;
      reason = error;
    }
    if (isOver(signal)) return;
    const waitMs = backoffMs[Math.min(failures, backoffMs.length - 1)]!;
    onWait?.(waitMs, reason);
    await sleep(waitMs);
  }
}

/** It changes while a generator waits, which narrowing does not know. */
function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** Before the first answer a refused connection means a wrong address rather than a restart. */
function isPassing({ status }: ApiCallError, opened: boolean): boolean {
  return status === 0 ? opened : status === 429 || status >= 500;
}

async function* connection(
  options: StreamOptions,
  position: number | null,
): AsyncGenerator<SseMessage, void, void> {
  const ended = new AbortController();
  const stop = (): void => ended.abort();
  options.signal?.addEventListener('abort', stop);
  let silence = setTimeout(stop, silenceMsMax);
  try {
    const response = await open(options, position, ended.signal);
    const parser = createSseParser();
    const decoder = new TextDecoder();
    const reader = response.body!.getReader();
    for (;;) {
      clearTimeout(silence);
      // Only while we wait for the server: a slow reader is not its silence.
      silence = setTimeout(stop, silenceMsMax);
      const { value, done } = await reader.read();
      clearTimeout(silence);
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } catch (error) {
    if (error instanceof ApiCallError) throw error;
    throw unreachable(options.server, error);
  } finally {
    clearTimeout(silence);
    options.signal?.removeEventListener('abort', stop);
    ended.abort();
  }
}

async function open(
  { server, token, types, samples }: StreamOptions,
  position: number | null,
  signal: AbortSignal,
): Promise<Response> {
  const query = new URLSearchParams({
    ...(types === undefined ? {} : { types: types.join(',') }),
    ...(samples === true ? { samples: 'true' } : {}),
  });
  const headers = new Headers({ authorization: `Bearer ${token}`, accept: 'text/event-stream' });
  if (position !== null) headers.set('last-event-id', String(position));
  const response = await fetch(`${server.replace(/\/+$/, '')}/api/v1/events/stream?${query}`, {
    headers,
    signal,
    // A followed redirect may carry the token elsewhere.
    redirect: 'manual',
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (response.status === 200 && isStream && response.body !== null) return response;
  throw errorOf(response.status, await response.text());
}

function unreachable(server: string, cause: unknown): ApiCallError {
  return new ApiCallError(0, { code: 'unreachable', message: `No server answers at ${server}.`, cause });
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (isOver(signal)) return resolve();
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
