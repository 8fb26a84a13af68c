// The core's end of descriptor 3. Frames come in checked and counted, because the other end may be anything; a breach is told to
// whoever listens, who kills.
import type { Socket } from 'bun';
import { busyBounds, idleBounds, readFrame, type Heard } from '../frames.ts';
import { createFrameReader, type Frame } from '../framing.ts';
import type { ToSidecar } from '../protocol.ts';
import { createSending } from './sending.ts';

declare module 'bun' {
  /** Bun takes an open descriptor here; its types know the options but not this overload. */
  function connect(options: FdSocketOptions<undefined>): Promise<Socket<undefined>>;
}

export interface LinkOptions {
  /** It may have something to say now. */
  busy(): boolean;
  onMessage(message: Heard): void;
  /** Some of what waited to be read by the other end has left. */
  onSent(): void;
  /** Nothing is read any more. */
  onBreach(why: string): void;
}

/** Ten times what a sidecar that does nothing else has been seen to say. */
const framesPerSecondMax = 200_000;

export interface Link {
  /** @throws Error when the descriptor is no socket */
  open(fd: number, first: ToSidecar): Promise<void>;
  send(message: ToSidecar): void;
  /** When the other end last gave a sign of life. While something waits for it, only taking that counts; while the core reads nothing, it counts as alive. */
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

  const breach = (why: string): void => {
    over = true;
    options.onBreach(why);
  };

  const sending = createSending((bytes) => socket?.write(bytes) ?? 0, {
    onFlushed: (messages) => counter.sent(messages),
    onSent: options.onSent,
    onBreach: breach,
  });

  const take = (frame: Frame): void => {
    if (over) return;
    const message = readFrame(frame);
    counter.heard(message, heardAt);
    options.onMessage(message);
  };

  const received = (chunk: Uint8Array): void => {
    if (over) return;
    heardAt = performance.now();
    try {
      reader.push(chunk, take);
    } catch (error) {
      breach(error instanceof Error ? error.message : String(error));
    }
  };

  return {
    get heardAt() {
      if (sending.waitsSince !== undefined) return sending.waitsSince;
      return paused ? performance.now() : heardAt;
    },
    get backlog() {
      return sending.backlog;
    },
    async open(fd, first) {
      const data = (_socket: Socket<undefined>, chunk: Uint8Array): void => received(chunk);
      socket = await Bun.connect({ fd, socket: { data, drain: sending.drain, error: () => undefined } });
      sending.begin(first);
    },
    send(message) {
      if (!over) sending.send(message);
    },
    pause(full) {
      paused = full;
      if (full) socket?.pause();
      else socket?.resume();
      heardAt = performance.now();
    },
    close() {
      over = true;
      sending.clear();
      socket?.end();
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
    heard(message: Heard, atMs: number): void {
      const now = Math.floor(atMs / 1000);
      frames = now === second ? frames + 1 : 1;
      second = now;
      if (frames > framesPerSecondMax) throw new Error('It floods the core with frames.');
      if (message.t === 'pong' && pingsOut-- === 0) throw new Error('It answers what it was not asked.');
    },
  };
}
