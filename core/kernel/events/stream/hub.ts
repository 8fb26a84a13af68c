// Reads and renders the newest events of a workspace once for all streams at the end of its log. A stream
// that is further behind reads the log itself, one piece at a time, so that nothing is cached for it. All
// reads go through the fair queue.
import type { LoopQueue } from '../../../platform/lib/fairness/loop-queue.ts';
import { type Scope, scopeOf, type Store } from '../../../platform/store/store.ts';
import { type EventType, memberOfEvent } from '../catalogue.ts';
import type { FreshEvents } from '../consumers/fresh.ts';
import { type EventEnvelope, eventJson, type EventRow } from '../event.ts';
import { pageAfter } from '../log/log.ts';

/**
 * Event as a frame of a server-sent stream (WHATWG HTML § 9.2.6). JSON contains no bare line breaks, so one
 * data line holds an event.
 */
export interface StreamFrame {
  readonly sequence: number;
  readonly type: EventType;
  /** Member that the event belongs to; null if it belongs to no single member. */
  readonly memberId: string | null;
  readonly text: string;
  readonly event: EventRow;
}

/**
 * Returns true for frames that a reader receives. Without `memberId`: true if the reader may receive any
 * event of the type.
 */
export type FrameFilter = (type: EventType, memberId?: string | null) => boolean;

/** Frames that a stream sends together. */
export interface Piece {
  readonly frames: readonly StreamFrame[];
  /** Last sequence the piece covers; unwanted frames up to it are omitted. */
  readonly through: number;
}

const pageEvents = 200;
/** Newly committed events rendered per queue slot. */
const freshEvents = 50;
/** Bytes that the hub reads per queue slot. */
const slotBytes = 256 * 1024;

export interface Hub {
  /** Returns the events after a sequence. The read is charged to the account in `scope`. */
  after(scope: Scope, sequence: number, matches: FrameFilter): Promise<Piece>;
  /** Returns true if `after` would find events. */
  hasAfter(sequence: number): boolean;
  /** Reads appended events, then notifies the waiting streams. */
  wake(): void;
  /** Calls back once when more events may be available. Returns a function that cancels the callback. */
  onMore(callback: () => void): () => void;
}

interface HubOptions {
  readonly store: Store;
  readonly fairQueue: LoopQueue;
  readonly fresh: FreshEvents;
  readonly workspaceId: string;
  /** Log generation. */
  readonly generation: string;
  /** Last sequence of the log. */
  readonly end: number;
  readonly onError: (error: unknown) => void;
}

export function createHub(options: HubOptions): Hub {
  const { store, fairQueue, generation } = options;
  const newest = new NewestFrames(options.end);
  /** At most one callback per stream at the end of the log. */
  const waiting = new Set<() => void>();
  let reading = false;
  let again = false;

  const wake = async (): Promise<void> => {
    again = true;
    if (reading) return;
    reading = true;
    try {
      while (again) {
        again = false;
        await readOn(options, newest);
        const callbacks = [...waiting];
        waiting.clear();
        for (const callback of callbacks) callback();
      }
    } catch (error) {
      options.onError(error);
    } finally {
      reading = false;
    }
  };

  return {
    async after(scope, sequence, matches) {
      const piece = newest.after(sequence, matches);
      return piece ?? fairQueue.run(scope, () => pieceOfLog(store, generation, scope, sequence, matches));
    },
    hasAfter: (sequence) => sequence < newest.last,
    wake: () => void wake(),
    onMore(callback) {
      waiting.add(callback);
      return () => void waiting.delete(callback);
    },
  };
}

async function readOn(options: HubOptions, newest: NewestFrames): Promise<void> {
  const { store, fairQueue, fresh, workspaceId, generation } = options;
  const frame = (row: EventRow): StreamFrame => frameOf(row, generation);
  const everyone = scopeOf(workspaceId);
  for (let more = true; more;)
    more = await fairQueue.run(everyone, async () => {
      const handed = fresh.after(workspaceId, newest.last, freshEvents);
      if (handed) {
        newest.add(handed.map(frame));
        return handed.length === freshEvents;
      }
      const page = await pageAfter(store, everyone, newest.last, { limit: pageEvents, bytesMax: slotBytes });
      newest.add(page.events.map(frame));
      return page.more;
    });
}

async function pieceOfLog(
  store: Store,
  generation: string,
  scope: Scope,
  sequence: number,
  matches: FrameFilter,
): Promise<Piece> {
  const page = await pageAfter(store, scope, sequence, {
    limit: pageEvents,
    matches: ({ type }) => matches(type),
    bytesMax: pieceCharacters,
  });
  const frames = page.events.map((row) => frameOf(row, generation));
  return { frames: frames.filter(({ type, memberId }) => matches(type, memberId)), through: page.through };
}

const cachedFramesMax = 1_000;
const cachedCharactersMax = 4 * 1024 * 1024;
/** A piece ends after the event that exceeds this size (characters). */
const pieceCharacters = 64 * 1024;

/**
 * Cache of the newest rendered events of one workspace. The size of the cache limits how far a stream may be
 * behind without reading the log.
 */
class NewestFrames {
  #frames: StreamFrame[] = [];
  #characters = 0;
  #last: number;

  /** @param last last sequence of the log */
  constructor(last: number) {
    this.#last = last;
  }

  /** Last sequence in the cache. */
  get last(): number {
    return this.#last;
  }

  add(frames: readonly StreamFrame[]): void {
    for (const frame of frames) {
      this.#frames.push(frame);
      this.#characters += frame.text.length;
    }
    this.#last = frames.at(-1)?.sequence ?? this.#last;
    let dropped = 0;
    while (this.#frames.length - dropped > cachedFramesMax || this.#characters > cachedCharactersMax)
      this.#characters -= this.#frames[dropped++]!.text.length;
    if (dropped > 0) this.#frames = this.#frames.slice(dropped);
  }

  /** Returns the frames after a sequence; null if the cache no longer holds them. */
  after(sequence: number, matches: FrameFilter): Piece | null {
    if (sequence >= this.#last) return { frames: [], through: sequence };
    const first = this.#frames[0]?.sequence ?? Infinity;
    if (sequence + 1 < first) return null;
    const frames: StreamFrame[] = [];
    let characters = 0;
    let at = sequence + 1 - first;
    for (; at < this.#frames.length && characters <= pieceCharacters; at++) {
      const frame = this.#frames[at]!;
      if (!matches(frame.type, frame.memberId)) continue;
      frames.push(frame);
      characters += frame.text.length;
    }
    return { frames, through: this.#frames[at - 1]!.sequence };
  }
}

/** Returns the `id` line of a frame: the reader's position and its log generation. */
function idOf(sequence: number, generation: string): string {
  return `id: ${sequence}:${generation}\n`;
}

function frameOf(row: EventRow, generation: string): StreamFrame {
  const { sequence, type } = row;
  return {
    sequence,
    type,
    memberId: memberOfEvent(row),
    text: `${idOf(sequence, generation)}${body(type, eventJson(row))}`,
    event: row,
  };
}

/** Returns the frame of an event with redacted fields. */
export function redactedFrame(event: EventEnvelope, generation: string): string {
  return `${idOf(event.sequence, generation)}${body(event.type, JSON.stringify(event))}`;
}

/** Returns a frame without id, so that a reconnecting reader continues after its last event of the log. */
export function sampleFrame(sample: EventEnvelope): string {
  return body(sample.type, JSON.stringify(sample));
}

/**
 * Returns a frame that moves a reader's position without an event: browsers dispatch nothing without data.
 */
export function positionFrame(sequence: number, generation: string): string {
  return `${idOf(sequence, generation)}\n`;
}

/**
 * Returns the first lines of a stream, which make buffering proxies forward the response. The start position
 * in them lets a reader that is cut off before its first event resume there and not at a later end of the
 * log.
 */
export function openingFrame(sequence: number, generation: string): string {
  return `retry: 2000\n: events follow\n${positionFrame(sequence, generation)}`;
}

export const heartbeatFrame = ':\n\n';

function body(type: EventType, json: string): string {
  return `event: ${type}\ndata: ${json}\n\n`;
}
