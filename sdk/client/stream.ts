/**
 * Events from `GET /api/v1/events/stream`, each once and in order, across restarts of the server and broken
 * connections: the stream resumes after the last event that was read.
 */
import type { TatamiEvent } from '../webhooks/event.ts';
import { backoffMs } from './backoff.ts';
import { connection, type ConnectionOptions } from './connection.ts';
import { ApiCallError } from './error.ts';
import type { Signal } from './options.ts';
import { pause } from './pause.ts';
import type { SseMessage } from './sse.ts';

export interface StreamOptions extends ConnectionOptions {
  /** Sequence after which the stream starts; by default it starts with new events. */
  readonly after?: number | undefined;
  /** Log generation that `after` was read in. */
  readonly generation?: string | undefined;
  /**
   * Called when the server was restored from a backup: the events after `position.after` no longer exist or are
   * different. The stream continues after `position.after` once the callback returns. Without a callback, the
   * stream ends with the error `history_changed`.
   */
  onHistoryChanged?(position: { readonly after: number; readonly generation: string }): void | Promise<void>;
  sleep?(ms: number): Promise<void>;
  /** Called after every connection, the first and later ones. No event is missed after the call. */
  onOpen?(): void;
  /** Called before each wait, for example to show the reason to a person. */
  onWait?(waitMs: number, reason: ApiCallError): void;
}

export interface StreamedEvent {
  /** Null for a sample. */
  readonly sequence: number | null;
  /** Log generation that the sequence belongs to; null for a sample, or if the server names none. */
  readonly generation: string | null;
  readonly type: string;
  /** Event as JSON, the same bytes as in the feed. */
  readonly payload: string;
  /** Parsed event. Narrows on `type`; newer servers may send unknown types. */
  readonly event: TatamiEvent;
}

/** State that persists across connections. */
interface Progress {
  /** Position of the last event that was read. */
  position: StreamPosition | null;
  /** True once a server has answered. */
  opened: boolean;
  /** Consecutive connections without an event. */
  failures: number;
}

interface StreamPosition {
  readonly sequence: number;
  readonly generation: string | null;
}

/** Returns a position in the format of frame ids. */
const textOf = ({ sequence, generation }: StreamPosition): string =>
  generation === null ? String(sequence) : `${sequence}:${generation}`;

function parsePosition(id: string): StreamPosition {
  const [sequence, generation = null] = id.split(':');
  return { sequence: Number(sequence), generation };
}

/** @throws ApiCallError if retrying cannot help, or if no server answers the first time */
export async function* streamEvents(options: StreamOptions): AsyncGenerator<StreamedEvent, void, void> {
  const { signal, onWait } = options;
  const sleep = options.sleep ?? ((ms: number) => pause(ms, signal));
  const { after, generation = null } = options;
  const position = after === undefined ? null : { sequence: after, generation };
  const progress: Progress = { position, opened: false, failures: 0 };
  while (!isOver(signal)) {
    const reason = yield* readConnection(options, progress);
    if (reason === null) return;
    const waitMs = backoffMs(progress.failures);
    progress.failures++;
    onWait?.(waitMs, reason);
    await sleep(waitMs);
  }
}

/**
 * Yields the events of one connection.
 * @returns the reason to reconnect; null if the signal has ended the stream
 */
async function* readConnection(
  options: StreamOptions,
  progress: Progress,
): AsyncGenerator<StreamedEvent, ApiCallError | null, void> {
  const { signal, onOpen } = options;
  try {
    let isFirst = true;
    for await (const message of connection(options, progress.position && textOf(progress.position))) {
      const event = take(progress, message);
      // Called only after the server has sent the stream's position: from here on no event is missed.
      if (isFirst) {
        isFirst = false;
        progress.opened = true;
        onOpen?.();
      }
      if (event) yield event;
    }
    return isOver(signal)
      ? null
      : new ApiCallError(0, { code: 'unreachable', message: 'The server closed the stream.' });
  } catch (error) {
    if (isOver(signal)) return null;
    if (!(error instanceof ApiCallError)) throw error;
    if (await movesOn(options, progress, error)) return error;
    if (!isPassing(error, progress.opened)) throw error;
    return error;
  }
}

/**
 * Advances the position to that of a message.
 * @returns its event; null if it has none or an earlier connection delivered it
 */
function take(progress: Progress, { id, event, data }: SseMessage): StreamedEvent | null {
  const position = id === null ? null : parsePosition(id);
  const isKnown =
    position !== null && progress.position !== null && position.sequence <= progress.position.sequence;
  progress.position = position ?? progress.position;
  if (data === null) return null;
  progress.failures = 0;
  const { sequence, generation } = position ?? { sequence: null, generation: null };
  if (isKnown) return null;
  return {
    ...{ sequence, generation, type: event, payload: data },
    // The event is parsed on access, because callers that only forward the bytes do not need it.
    get event() {
      return JSON.parse(data) as TatamiEvent;
    },
  };
}

/**
 * Moves the position to the last event before the log generation changed, after calling the handler.
 * @returns false without a handler, or if the error names no position
 */
async function movesOn(options: StreamOptions, progress: Progress, error: ApiCallError): Promise<boolean> {
  if (error.code !== 'history_changed' || !options.onHistoryChanged) return false;
  const valueOf = (path: string): string | undefined =>
    error.details.find((detail) => detail.path === path)?.value;
  const [after, generation] = [Number(valueOf('after')), valueOf('generation')];
  if (!Number.isSafeInteger(after) || generation === undefined) return false;
  await options.onHistoryChanged({ after, generation });
  progress.position = { sequence: after, generation };
  return true;
}

/**
 * Reads `aborted` in a function, because the compiler assumes that it does not change while a generator
 * waits.
 */
function isOver(signal: Signal | undefined): boolean {
  return signal?.aborted === true;
}

/**
 * Returns true for errors that a retry can resolve. Before the first response a refused connection means a
 * wrong address and not a restart.
 */
function isPassing({ status }: ApiCallError, opened: boolean): boolean {
  return status === 0 ? opened : status === 429 || status >= 500;
}
