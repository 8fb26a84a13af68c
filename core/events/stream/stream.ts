// One server-sent stream. It is pulled: it renders its next piece when the socket has taken the one before, so that a slow reader
// costs one piece of memory, and the log is the buffer. See docs/decisions/0008.
import type { Clock } from '../../lib/clock.ts';
import { errorForLog } from '../../lib/failures.ts';
import type { Log } from '../../lib/log.ts';
import type { Connected, Shares } from '../../lib/fairness/shares.ts';
import type { Scope } from '../../store/store.ts';
import type { EventType } from '../catalogue.ts';
import { renderEvent, type EventEnvelope } from '../event.ts';
import {
  heartbeatFrame,
  openingFrame,
  placeFrame,
  sampleFrame,
  veiledFrame,
  type Frame,
  type WantsFrame,
} from './frame.ts';
import type { Hub } from './hub.ts';
import type { Piece } from './newest-frames.ts';

const heartbeatMs = 15_000;
/** A socket that takes nothing for this long is closed; its reader goes on where it stopped. */
const stuckMs = 30_000;
/** Room that a piece must have before it is made (bytes); it may turn out larger by one event. */
const pieceBytes = 64 * 1024;
/** Who has too much unsent is asked again after this long. */
const crowdedMs = 250;
/** After so many events that a reader does not get, it is told its place. */
const silentEvents = 1_000;
/** Samples that wait for a reader; more are dropped, as are those of nobody. */
const samplesMax = 20;

/** What a stream needs to know of its reader. */
export interface Reader extends Connected {
  /** Whether its token is still good for what it was. */
  isAdmitted(): Promise<boolean>;
  /** Closes its connection, though it takes nothing. */
  hangUp(): void;
  readonly wants: WantsFrame;
  /** What it is shown of an event that it wants: null for nothing, the event itself for all of it. Absent where that is so of each. */
  readonly shows?: (event: EventEnvelope) => EventEnvelope | null;
  readonly samples: boolean;
}

interface StreamSetting {
  readonly scope: Scope;
  /** Of the log. */
  readonly generation: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Pieces that no socket has taken yet count here. */
  readonly unsent: Shares;
  onEnd(stream: EventStream): void;
}

const nothing = (): void => undefined;
const encoder = new TextEncoder();

export class EventStream {
  readonly reader: Reader;
  readonly #setting: StreamSetting;
  readonly #samples: string[] = [];
  #ended = false;
  #close = nothing;
  #stopWaiting = nothing;
  #cancelStuck = nothing;
  /** Gives back the room of the piece that was sent last. */
  #taken = nothing;
  #isOpened = false;
  #position = 0;
  /** Events passed since the reader was last told its place. */
  #silent = 0;

  constructor(reader: Reader, setting: StreamSetting) {
    this.reader = reader;
    this.#setting = setting;
  }

  /** From the event after a sequence on. */
  readFrom(hub: Hub, position: number): ReadableStream<Uint8Array> {
    this.#position = position;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#close = () => {
            try {
              controller.close();
            } catch {
              // Its reader has gone already.
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

  wantsSample(type: EventType): boolean {
    return this.reader.samples && this.reader.wants(type);
  }

  offer(sample: EventEnvelope): void {
    if (!this.wantsSample(sample.type) || this.#samples.length >= samplesMax) return;
    const { shows } = this.reader;
    const shown = shows ? shows(sample) : sample;
    if (!shown) return;
    this.#samples.push(sampleFrame(shown));
    this.#stopWaiting();
  }

  /** Has it asked again whether its reader is still admitted, now and not with the next event. */
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
      this.#taken = unsent.hold(scope, bytes.length);
      controller.enqueue(bytes);
      this.#cancelStuck = clock.after(stuckMs, () => {
        log('info', 'a stream reader was cut off', { workspaceId });
        this.end();
      });
    } catch (error) {
      log('error', 'an event stream broke off', { workspaceId, error: errorForLog(error) });
      this.end();
    }
  }

  /** What to send next, once there is something; empty when it has ended. */
  async #next(hub: Hub): Promise<string> {
    if (!this.#isOpened) {
      this.#isOpened = true;
      return openingFrame(this.#position, this.#setting.generation);
    }
    for (let isDue = false; !this.#ended;) {
      if (this.#samples.length === 0) await this.#untilRoom();
      const piece = await hub.after(this.#setting.scope, this.#position, this.reader.wants);
      // Asked last, so that what was withdrawn while there was something to wait for is not sent either.
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
    const shown = frames.flatMap((frame) => {
      const text = this.#textOf(frame);
      return text === null ? [] : [{ sequence: frame.sequence, text }];
    });
    const last = shown.at(-1);
    this.#silent = last ? through - last.sequence : this.#silent + through - this.#position;
    this.#position = through;
    return shown.map(({ text }) => text).join('');
  }

  /** Frames are shared: a reader who is shown less of an event has its frame made anew. */
  #textOf({ text, event }: Frame): string | null {
    const { shows } = this.reader;
    if (!shows) return text;
    const whole = renderEvent(event);
    const shown = shows(whole);
    return shown === whole ? text : shown && veiledFrame(shown, this.#setting.generation);
  }

  /** Where there is no event to send: its place where much was passed over, and what the heartbeat asks for where that is due. */
  #signOfLife(isDue: boolean): string {
    if (this.#silent >= silentEvents || (isDue && this.#silent > 0)) {
      this.#silent = 0;
      return placeFrame(this.#position, this.#setting.generation);
    }
    return isDue ? heartbeatFrame : '';
  }

  /** Until this reader, and others of its workspace, have taken enough of what they were sent. */
  async #untilRoom(): Promise<void> {
    const { scope, clock, unsent } = this.#setting;
    while (!this.#ended && !unsent.hasRoomFor(scope, pieceBytes))
      await new Promise<void>((resolve) => void clock.after(crowdedMs, resolve));
  }

  /** Until more may be there, or the heartbeat is due. @returns whether it is */
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
      // What came before this was said has been told to nobody.
      if (this.#ended || this.#samples.length > 0 || hub.hasAfter(this.#position)) done(false);
    });
  }
}
