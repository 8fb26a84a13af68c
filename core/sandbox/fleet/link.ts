// The core's end of descriptor 3: messages of one tick leave in one write, frames come in checked. What waits to be
// sent and what may come in are bounded, because the other end may be anything; it is told as a breach, and whoever
// listens kills.
import type { Socket } from 'bun';
import { busyBounds, idleBounds, readFrame } from '../frames.ts';
import { encodeFrames, FrameReader, unitsOf } from '../framing.ts';
import type { FromSidecar, ToSidecar } from '../protocol.ts';

declare module 'bun' {
  /** Bun takes an open descriptor here; its types know the options but not this overload. */
  function connect(options: FdSocketOptions<undefined>): Promise<Socket<undefined>>;
}

export interface LinkOptions {
  /** It may have something to say now. */
  busy(): boolean;
  onMessage(message: FromSidecar): void;
  /** Some of what waited to be read by the other end has left. */
  onSent(): void;
  /** Nothing is read any more. */
  onBreach(why: string): void;
}

/** Honest traffic stays far below: bundles, inputs, and answers as far as `Room` lets calls in. */
const waitingBytesMax = 128 * 1024 * 1024;
/** Ten times what a sidecar that does nothing else has been seen to say. */
const framesPerSecondMax = 200_000;

export class Link {
  #heardAt = performance.now();
  #paused = false;
  #options: LinkOptions;
  #socket: Socket<undefined> | undefined;
  #reader: FrameReader;
  #outgoing: ToSidecar[] = [];
  #outgoingUnits = 0;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** When the other end last took something of what waited. */
  #takenAt = performance.now();
  /** Not yet answered. */
  #pingsOut = 0;
  #over = false;
  #second = 0;
  #frames = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#reader = new FrameReader(() => (options.busy() ? busyBounds : idleBounds));
  }

  /** @throws Error when the descriptor is no socket */
  async open(fd: number, first: ToSidecar): Promise<void> {
    this.#socket = await Bun.connect({
      fd,
      socket: {
        data: (_socket, chunk) => this.#received(chunk),
        drain: () => {
          this.#takenAt = performance.now();
          this.#write();
          this.#options.onSent();
        },
        error: () => undefined,
      },
    });
    this.#outgoing.unshift(first);
    this.#flush();
  }

  send(message: ToSidecar): void {
    if (this.#over) return;
    this.#outgoingUnits += unitsOf(message);
    if (this.#outgoing.push(message) === 1) setImmediate(() => this.#flush());
  }

  /** When it last gave a sign of life: while something waits for it, that is to take it, and while the core does not read, nothing. */
  get heardAt(): number {
    if (this.#waitingBytes > 0) return this.#takenAt;
    return this.#paused ? performance.now() : this.#heardAt;
  }

  /** What it has not taken, in bytes and in units of what is not yet encoded. */
  get backlog(): number {
    return this.#waitingBytes + this.#outgoingUnits;
  }

  /** Reads no further, or reads on. */
  pause(paused: boolean): void {
    this.#paused = paused;
    if (paused) this.#socket?.pause();
    else this.#socket?.resume();
    this.#heardAt = performance.now();
  }

  close(): void {
    this.#over = true;
    this.#outgoing = [];
    this.#waiting = [];
    this.#socket?.end();
  }

  #received(chunk: Uint8Array): void {
    if (this.#over) return;
    this.#heardAt = performance.now();
    try {
      for (const frame of this.#reader.push(chunk)) {
        const message = readFrame(frame);
        this.#count(message);
        this.#options.onMessage(message);
        if (this.#over) return;
      }
    } catch (error) {
      this.#breach(error instanceof Error ? error.message : String(error));
    }
  }

  #count(message: FromSidecar): void {
    const second = Math.floor(this.#heardAt / 1000);
    this.#frames = second === this.#second ? this.#frames + 1 : 1;
    this.#second = second;
    if (this.#frames > framesPerSecondMax) throw new Error('It floods the core with frames.');
    if (message.t === 'pong' && this.#pingsOut-- === 0) throw new Error('It answers what it was not asked.');
  }

  #breach(why: string): void {
    this.#over = true;
    this.#options.onBreach(why);
  }

  #flush(): void {
    if (!this.#socket || this.#outgoing.length === 0) return;
    const bytes = encodeFrames(this.#outgoing);
    for (const { t } of this.#outgoing) if (t === 'ping') this.#pingsOut++;
    this.#outgoing = [];
    this.#outgoingUnits = 0;
    if (this.#waiting.length === 0) this.#takenAt = performance.now();
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.byteLength;
    this.#write();
    if (this.#waitingBytes > waitingBytesMax)
      this.#breach(`${this.#waitingBytes} bytes wait for it to read them.`);
    else this.#options.onSent();
  }

  #write(): void {
    if (!this.#socket) return;
    for (let [head] = this.#waiting; head; [head] = this.#waiting) {
      const written = Math.max(0, this.#socket.write(head));
      this.#waitingBytes -= written;
      if (written < head.byteLength) {
        this.#waiting[0] = head.subarray(written);
        return;
      }
      this.#waiting.shift();
    }
  }
}
