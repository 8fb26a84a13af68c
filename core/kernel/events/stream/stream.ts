// One server-sent stream. It is pull-based: the next piece is rendered once the socket has accepted the previous one.
// A slow reader costs one piece of memory, and the log is the buffer. See docs/decisions/0008.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';
import type { Connected, FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { Scope } from '../../../platform/store/store.ts';
import type { EventType } from '../catalogue.ts';
import { renderEvent, type EventEnvelope } from '../event.ts';
import {
  heartbeatFrame,
  openingFrame,
  positionFrame,
  sampleFrame,
  redactedFrame,
  type StreamFrame,
  type FrameFilter,
  type Hub,
  type Piece,
} from './hub.ts';

const heartbeatMs = 15_000;
/** A socket that accepts no data for this long is closed; its reader resumes at its last position. */
const stuckMs = 30_000;
/** Free capacity required before a piece is rendered (bytes). The piece may exceed it by one event. */
const pieceBytes = 64 * 1024;
/** Delay before a reader with too many unsent bytes is checked again. */
const crowdedMs = 250;
/** Number of omitted events after which the reader is sent its position. */
const silentEvents = 1_000;
/** Limit of samples that wait for a reader. Further samples are dropped. */
const samplesMax = 20;

/** Connection and permissions of a stream's reader. */
export interface StreamReader extends Connected {
  /** Returns true while the token is valid for the permissions it had. */
  isAdmitted(): Promise<boolean>;
  /** Closes the connection, even if the socket accepts no data. */
  hangUp(): void;
  readonly matches: FrameFilter;
  /**
   * Returns the visible part of a matching event: null if nothing is visible, the same object if everything
   * is. Absent if every event is fully visible.
   */
  readonly shows?: (event: EventEnvelope) => EventEnvelope | null;
  readonly samples: boolean;
}

interface StreamSetting {
  readonly scope: Scope;
  /** Log generation. */
  readonly generation: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts the bytes of pieces that no socket has accepted yet. */
  readonly unsent: FairQuota;
  onEnd(stream: EventStream): void;
}

const nothing = (): void => undefined;
const encoder = new TextEncoder();

export class EventStream {
  readonly reader: StreamReader;
  readonly #setting: StreamSetting;
  readonly #samples: string[] = [];
  #ended = false;
  #close = nothing;
  #stopWaiting = nothing;
  #cancelStuck = nothing;
  /** Releases the capacity of the piece sent last. */
  #taken = nothing;
  #isOpened = false;
  #position = 0;
  /** Events omitted since the reader was last sent its position. */
  #silent = 0;

  constructor(reader: StreamReader, setting: StreamSetting) {
    this.reader = reader;
    this.#setting = setting;
  }

  /** Starts after the given sequence. */
  readFrom(hub: Hub, position: number): ReadableStream<Uint8Array> {
    this.#position = position;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#close = () => {
            try {
              controller.close();
            } catch {
              // The reader has already disconnected.
            }
            this.reader.hangUp();
          };
          if (this.#ended) this.#close();
        },
        pull: (controller) => this.#send(hub, controller),
        cancel: () => {
          this.#close = nothing;
          this.end();
        },
      },
      { highWaterMark: 0 },
    );
  }

  matchesSample(type: EventType): boolean {
    return this.reader.samples && this.reader.matches(type);
  }

  offer(sample: EventEnvelope): void {
    if (!this.matchesSample(sample.type) || this.#samples.length >= samplesMax) return;
    const { shows } = this.reader;
    const visible = shows ? shows(sample) : sample;
    if (!visible) return;
    this.#samples.push(sampleFrame(visible));
    this.#stopWaiting();
  }

  /** Checks immediately, instead of with the next event, if the reader is still admitted. */
  ask(): void {
    this.#stopWaiting();
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#setting.onEnd(this);
    this.#cancelStuck();
    this.#taken();
    this.#stopWaiting();
    this.#close();
  }

  async #send(hub: Hub, controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { scope, clock, log, unsent } = this.#setting;
    const { workspaceId } = scope;
    this.#cancelStuck();
    this.#taken();
    try {
      const bytes = encoder.encode(await this.#next(hub));
      if (this.#ended) return;
      this.#taken = unsent.reserve(scope, bytes.length);
      controller.enqueue(bytes);
      this.#cancelStuck = clock.after(stuckMs, () => {
        log('info', 'slow stream reader disconnected', { workspaceId });
        this.end();
      });
    } catch (error) {
      log('error', 'event stream failed', { workspaceId, error: errorForLog(error) });
      this.end();
    }
  }

  /** Waits for the next text to send. Returns an empty text once the stream has ended. */
  async #next(hub: Hub): Promise<string> {
    if (!this.#isOpened) {
      this.#isOpened = true;
      return openingFrame(this.#position, this.#setting.generation);
    }
    for (let isDue = false; !this.#ended;) {
      if (this.#samples.length === 0) await this.#untilRoom();
      const piece = await hub.after(this.#setting.scope, this.#position, this.reader.matches);
      // Checked last, so that access revoked during the wait also applies.
      if (!(await this.reader.isAdmitted())) break;
      const samples = this.#samples.splice(0).join('');
      if (samples !== '') return samples;
      const isEnd = piece.through === this.#position;
      const text = this.#take(piece) || this.#signOfLife(isDue);
      if (text !== '') return text;
      if (isEnd && !this.#ended) isDue = await this.#wait(hub);
    }
    this.end();
    return '';
  }

  #take({ frames, through }: Piece): string {
    const visible = frames.flatMap((frame) => {
      const text = this.#textOf(frame);
      return text === null ? [] : [{ sequence: frame.sequence, text }];
    });
    const last = visible.at(-1);
    this.#silent = last ? through - last.sequence : this.#silent + through - this.#position;
    this.#position = through;
    return visible.map(({ text }) => text).join('');
  }

  /** Renders a separate frame for a redacted event, because frames are shared. */
  #textOf({ text, event }: StreamFrame): string | null {
    const { shows } = this.reader;
    if (!shows) return text;
    const whole = renderEvent(event);
    const visible = shows(whole);
    return visible === whole ? text : visible && redactedFrame(visible, this.#setting.generation);
  }

  /** Returns a position frame if many events were omitted, or the heartbeat if it is due. */
  #signOfLife(isDue: boolean): string {
    if (this.#silent >= silentEvents || (isDue && this.#silent > 0)) {
      this.#silent = 0;
      return positionFrame(this.#position, this.#setting.generation);
    }
    return isDue ? heartbeatFrame : '';
  }

  /** Waits until this reader, and others of its workspace, have accepted enough of their data. */
  async #untilRoom(): Promise<void> {
    const { scope, clock, unsent } = this.#setting;
    while (!this.#ended && !unsent.hasCapacityFor(scope, pieceBytes))
      await new Promise<void>((resolve) => void clock.after(crowdedMs, resolve));
  }

  /** Waits until more events may be available or the heartbeat is due. @returns true if the heartbeat is due */
  #wait(hub: Hub): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (isDue: boolean): void => {
        forget();
        cancelHeartbeat();
        this.#stopWaiting = nothing;
        resolve(isDue);
      };
      const forget = hub.onMore(() => done(false));
      const cancelHeartbeat = this.#setting.clock.after(heartbeatMs, () => done(true));
      this.#stopWaiting = () => done(false);
      // Events committed before the registration did not trigger the callback.
      if (this.#ended || this.#samples.length > 0 || hub.hasAfter(this.#position)) done(false);
    });
  }
}
