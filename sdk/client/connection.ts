/** One connection to the event stream, from opening to end, with the messages in server order. */
import { apiOf } from './address.ts';
import { ApiCallError, errorOf, unreachable } from './error.ts';
import type { Signal } from './options.ts';
import { createSseParser, type SseMessage } from './sse.ts';
import { tokenNow, type Token } from './token.ts';

export interface ConnectionOptions {
  /** Base URL, such as http://127.0.0.1:4700. */
  readonly server: string;
  readonly token: Token;
  /** Event types, or patterns such as `issue.*`; by default all that the token may read. */
  readonly types?: readonly string[] | undefined;
  /** Includes samples (`POST /events/samples`). */
  readonly samples?: boolean | undefined;
  /** Ends the stream without an error. */
  readonly signal?: Signal | undefined;
}

/** The server sends a heartbeat every 15 s; a longer silence means a dead connection. */
const silenceMsMax = 60_000;

/**
 * @param position position after which the stream starts, as in frame ids; null for new events only
 * @throws ApiCallError
 */
export async function* connection(
  options: ConnectionOptions,
  position: string | null,
): AsyncGenerator<SseMessage, void, void> {
  const token = await tokenNow(options.token);
  const ended = new AbortController();
  const stop = (): void => ended.abort();
  options.signal?.addEventListener('abort', stop);
  let silence = setTimeout(stop, silenceMsMax);
  try {
    const parser = createSseParser();
    const decoder = new TextDecoder();
    const reader = (await open(options, token, position, ended.signal)).getReader();
    for (;;) {
      clearTimeout(silence);
      // The timer runs only while waiting for the server, so a slow reader does not count as silence.
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
  { server, types, samples }: ConnectionOptions,
  token: string,
  position: string | null,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const query = new URLSearchParams({
    ...(types === undefined ? {} : { types: types.join(',') }),
    ...(samples === true ? { samples: 'true' } : {}),
  });
  const headers = new Headers({
    authorization: `Bearer ${token}`,
    accept: 'text/event-stream',
  });
  if (position !== null) headers.set('last-event-id', position);
  const response = await fetch(`${apiOf(server)}/events/stream?${query}`, {
    headers,
    signal,
    // A followed redirect could send the token elsewhere.
    redirect: 'manual',
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (response.status === 200 && isStream && response.body !== null) return response.body;
  throw errorOf(response, await response.text());
}
