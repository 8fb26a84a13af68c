// The core's end of descriptor 3: messages of one tick leave in one write, frames come in checked. What waits to be
// sent and what may come in are bounded, because the other end may be anything; it is told as a breach, and whoever
// listens kills.
import type { Socket } from 'bun';
import { busyBounds, idleBounds, readFrame } from '../frames.ts';
import { createFrameReader, encodeFrames, unitsOf } from '../framing.ts';
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

export interface Link {
  /** @throws Error when the descriptor is no socket */
  open(fd: number, first: ToSidecar): Promise<void>;
  send(message: ToSidecar): void;
  /** When it last gave a sign of life: while something waits for it, that is to take it, and while the core does not read, nothing. */
  readonly heardAt: number;
  /** What it has not taken, in bytes and in units of what is not yet encoded. */
  readonly backlog: number;
  /** Reads no further, or reads on. */
  pause(paused: boolean): void;
  close(): void;
}

export function createLink(options: LinkOptions): Link {
  const reader = createFrameReader(() => (options.busy() ? busyBounds : idleBounds));
  const counter = createFrameCounter();
  let socket: Socket<undefined> | undefined;
  let heardAt = performance.now();
  let paused = false;
  let over = false;
  /** Of this tick. */
  let outgoing: ToSidecar[] = [];
  let outgoingUnits = 0;
  const waiting = createBacklog((bytes) => socket?.write(bytes) ?? 0);

  const breach = (why: string): void => {
    over = true;
    options.onBreach(why);
  };

  const flush = (): void => {
    if (!socket || outgoing.length === 0) return;
    const bytes = encodeFrames(outgoing);
    counter.sent(outgoing);
    outgoing = [];
    outgoingUnits = 0;
    waiting.push(bytes);
    if (waiting.bytes > waitingBytesMax) breach(`${waiting.bytes} bytes wait for it to read them.`);
    else options.onSent();
  };

  const received = (chunk: Uint8Array): void => {
    if (over) return;
    heardAt = performance.now();
    try {
      for (const frame of reader.push(chunk)) {
        const message = readFrame(frame);
        counter.heard(message, heardAt);
        options.onMessage(message);
        if (over) return;
      }
    } catch (error) {
      breach(error instanceof Error ? error.message : String(error));
    }
  };

  const drained = (): void => {
    waiting.drain();
    options.onSent();
  };

  return {
    get heardAt() {
      if (waiting.bytes > 0) return waiting.takenAt;
      return paused ? performance.now() : heardAt;
    },
    get backlog() {
      return waiting.bytes + outgoingUnits;
    },
    async open(fd, first) {
      const data = (_socket: Socket<undefined>, chunk: Uint8Array): void => received(chunk);
      socket = await Bun.connect({ fd, socket: { data, drain: drained, error: () => undefined } });
      outgoing.unshift(first);
      flush();
    },
    send(message) {
      if (over) return;
      outgoingUnits += unitsOf(message);
      if (outgoing.push(message) === 1) setImmediate(flush);
    },
    pause(full) {
      paused = full;
      if (full) socket?.pause();
      else socket?.resume();
      heardAt = performance.now();
    },
    close() {
      over = true;
      outgoing = [];
      waiting.clear();
      socket?.end();
    },
  };
}

/** What the other end has not taken yet. */
interface Backlog {
  readonly bytes: number;
  /** When the other end last took something, or had nothing to take. */
  readonly takenAt: number;
  push(bytes: Uint8Array): void;
  /** The other end takes again. */
  drain(): void;
  clear(): void;
}

/** @param write returns how many bytes were taken; below 0 for none */
function createBacklog(write: (bytes: Uint8Array) => number): Backlog {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  let takenAt = performance.now();

  const writeOut = (): void => {
    for (let [head] = waiting; head; [head] = waiting) {
      const written = Math.max(0, write(head));
      bytes -= written;
      if (written < head.byteLength) {
        waiting[0] = head.subarray(written);
        return;
      }
      waiting.shift();
    }
  };

  return {
    get bytes() {
      return bytes;
    },
    get takenAt() {
      return takenAt;
    },
    push(more) {
      if (waiting.length === 0) takenAt = performance.now();
      waiting.push(more);
      bytes += more.byteLength;
      writeOut();
    },
    drain() {
      takenAt = performance.now();
      writeOut();
    },
    clear() {
      waiting = [];
    },
  };
}

/** Counts what a sidecar says against how much it may say. */
function createFrameCounter() {
  let second = 0;
  let frames = 0;
  /** Not yet answered. */
  let pingsOut = 0;
  return {
    sent(messages: readonly ToSidecar[]): void {
      for (const { t } of messages) if (t === 'ping') pingsOut++;
    },
    /** @throws Error when it says more */
    heard(message: FromSidecar, atMs: number): void {
      const now = Math.floor(atMs / 1000);
      frames = now === second ? frames + 1 : 1;
      second = now;
      if (frames > framesPerSecondMax) throw new Error('It floods the core with frames.');
      if (message.t === 'pong' && pingsOut-- === 0) throw new Error('It answers what it was not asked.');
    },
  };
}
