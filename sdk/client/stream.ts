/**
 * Events as they happen, from `GET /api/v1/events/stream`: each once and in order, through restarts of the server and broken
 * connections, because the stream is taken up again behind the last event that was read.
 */
import type { TatamiEvent } from '../webhooks/event.ts';
import { backoffMs } from './backoff.ts';
import { connection, type ConnectionOptions } from './connection.ts';
import { ApiCallError } from './error.ts';
import type { Signal } from './options.ts';
import { pause } from './pause.ts';
import type { SseMessage } from './sse.ts';

export interface StreamOptions extends ConnectionOptions {
  /** Begin behind this sequence; by default with what happens from now on. */
  readonly after?: number | undefined;
  /** The history that `after` was read in. */
  readonly generation?: string | undefined;
  /**
   * The server was restored, so that later events than those up to `after` are not, or not the same, in the history that goes on.
   * The stream goes on there once this returns; without it, it ends with the error `history_changed`.
   */
  onHistoryChanged?(place: { readonly after: number; readonly generation: string }): void | Promise<void>;
  sleep?(ms: number): Promise<void>;
  /** Connected, for the first time or again: what happens from now on is read. */
  onOpen?(): void;
  /** Told before each wait, so that a person knows why nothing comes. */
  onWait?(waitMs: number, reason: ApiCallError): void;
}

export interface StreamedEvent {
  /** Null for a sample, which never happened. */
  readonly sequence: number | null;
  /** Of the history that the sequence belongs to; null for a sample, and where the server names none. */
  readonly generation: string | null;
  readonly type: string;
  /** The event, in the bytes of the feed. */
  readonly payload: string;
  /** The same, read. Narrows on `type`; a newer server may send types that none of these is. */
  readonly event: TatamiEvent;
}

/** What is remembered from one connection to the next. */
interface Progress {
  /** The last event that was read. */
  place: Place | null;
  /** Whether a server has answered yet. */
  opened: boolean;
  /** Consecutive connections that brought no event. */
  failures: number;
}

interface Place {
  readonly sequence: number;
  readonly generation: string | null;
}

/** As frames name it. */
const textOf = ({ sequence, generation }: Place): string =>
  generation === null ? String(sequence) : `${sequence}:${generation}`;

function placeOf(id: string): Place {
  const [sequence, generation = null] = id.split(':');
  return { sequence: Number(sequence), generation };
}

/** @throws ApiCallError where trying again will not help, and where no server answers the first time */
export async function* streamEvents(options: StreamOptions): AsyncGenerator<StreamedEvent, void, void> {
  const { signal, onWait } = options;
  const sleep = options.sleep ?? ((ms: number) => pause(ms, signal));
  const { after, generation = null } = options;
  const place = after === undefined ? null : { sequence: after, generation };
  const progress: Progress = { place, opened: false, failures: 0 };
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
 * Reads one connection to its end.
 * @returns why another one should be made, null when the signal has ended the stream
 */
async function* readConnection(
  options: StreamOptions,
  progress: Progress,
): AsyncGenerator<StreamedEvent, ApiCallError | null, void> {
  const { signal, onOpen } = options;
  try {
    let isFirst = true;
    for await (const message of connection(options, progress.place && textOf(progress.place))) {
      const event = take(progress, message);
      // Not before the server has said where the stream stands: from here on nothing is missed.
      if (isFirst) {
        isFirst = false;
        progress.opened = true;
        onOpen?.();
      }
      if (event) yield event;
    }
    return isOver(signal) ? null : new ApiCallError(0, { code: 'unreachable', message: 'The stream ended.' });
  } catch (error) {
    if (isOver(signal)) return null;
    if (!(error instanceof ApiCallError)) throw error;
    if (await movesOn(options, progress, error)) return error;
    if (!isPassing(error, progress.opened)) throw error;
    return error;
  }
}

/** Moves on behind a message. @returns its event, null when it has none or an earlier connection brought it already */
function take(progress: Progress, { id, event, data }: SseMessage): StreamedEvent | null {
  const place = id === null ? null : placeOf(id);
  const isKnown = place !== null && progress.place !== null && place.sequence <= progress.place.sequence;
  progress.place = place ?? progress.place;
  if (data === null) return null;
  progress.failures = 0;
  const { sequence, generation } = place ?? { sequence: null, generation: null };
  if (isKnown) return null;
  return {
    ...{ sequence, generation, type: event, payload: data },
    // Read when it is asked for: whoever hands on the bytes has no use for it.
    get event() {
      return JSON.parse(data) as TatamiEvent;
    },
  };
}

/** Goes to where the history of now leaves the one that was read, where somebody wants to hear of that. */
async function movesOn(options: StreamOptions, progress: Progress, error: ApiCallError): Promise<boolean> {
  if (error.code !== 'history_changed' || !options.onHistoryChanged) return false;
  const valueOf = (path: string): string | undefined =>
    error.details.find((detail) => detail.path === path)?.value;
  const [after, generation] = [Number(valueOf('after')), valueOf('generation')];
  if (!Number.isSafeInteger(after) || generation === undefined) return false;
  await options.onHistoryChanged({ after, generation });
  progress.place = { sequence: after, generation };
  return true;
}

/** A function, because the compiler would not expect `aborted` to change while a generator waits. */
function isOver(signal: Signal | undefined): boolean {
  return signal?.aborted === true;
}

/** Before the first answer a refused connection means a wrong address rather than a restart. */
function isPassing({ status }: ApiCallError, opened: boolean): boolean {
  return status === 0 ? opened : status === 429 || status >= 500;
}
