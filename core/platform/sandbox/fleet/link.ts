// The core's end of descriptor 3. Validates and counts incoming frames, because the sidecar is untrusted, and reports a breach to
// its caller, which kills the sidecar.
import type { Socket } from 'bun';
import { busyBounds, idleBounds, readFrame, type SidecarMessage } from '../frames.ts';
import { createFrameReader, type Frame } from '../framing.ts';
import type { ToSidecar } from '../protocol.ts';
import { createSending } from './sending.ts';

declare module 'bun' {
  /** Bun accepts an open descriptor here; its types define the options but lack this overload. */
  function connect(options: FdSocketOptions<undefined>): Promise<Socket<undefined>>;
}

export interface LinkOptions {
  /** Returns true while the sidecar has runs and may send larger frames. */
  busy(): boolean;
  onMessage(message: SidecarMessage): void;
  /** Called when the backlog may have shrunk. */
  onSent(): void;
  /** Called on a protocol violation; nothing is read afterwards. */
  onBreach(why: string): void;
}

/** Ten times the highest rate measured for a genuine sidecar. */
const messagesPerSecondMax = 200_000;

export interface Link {
  /** @throws Error if the descriptor is not a socket */
  open(fd: number, first: ToSidecar): Promise<void>;
  send(message: ToSidecar): void;
  /**
   * Time of the sidecar's last sign of life. While output waits for the sidecar, only reading it counts; while the core has paused
   * reading, the sidecar counts as alive.
   */
  readonly lastActiveAt: number;
  /** Output that the sidecar has not read: bytes of encoded messages plus UTF-16 units of the others. */
  readonly backlog: number;
  /** Pauses or resumes reading. */
  pause(paused: boolean): void;
  close(): void;
}

export function createLink(options: LinkOptions): Link {
  const reader = createFrameReader(() => (options.busy() ? busyBounds : idleBounds));
  const counter = createFrameCounter();
  let socket: Socket<undefined> | undefined;
  let lastActiveAt = performance.now();
  let paused = false;
  let over = false;

  const breach = (why: string): void => {
    over = true;
    options.onBreach(why);
  };

  const sending = createSending((bytes) => socket?.write(bytes) ?? 0, {
    onSent: options.onSent,
    onBreach: breach,
  });

  const take = (frame: Frame): void => {
    for (const message of readFrame(frame)) {
      if (over) return;
      counter.received(message, lastActiveAt);
      options.onMessage(message);
    }
  };

  const received = (chunk: Uint8Array): void => {
    if (over) return;
    lastActiveAt = performance.now();
    try {
      reader.push(chunk, take);
    } catch (error) {
      breach(error instanceof Error ? error.message : String(error));
    }
  };

  return {
    get lastActiveAt() {
      if (sending.waitsSince !== undefined) return sending.waitsSince;
      return paused ? performance.now() : lastActiveAt;
    },
    get backlog() {
      return sending.backlog;
    },
    async open(fd, first) {
      const data = (_: unknown, chunk: Uint8Array): void => received(chunk);
      socket = await Bun.connect({ fd, socket: { data, drain: sending.drain, error: () => undefined } });
      sending.begin(first);
    },
    send(message) {
      counter.sent(message);
      if (!over) sending.send(message);
    },
    pause(full) {
      paused = full;
      socket?.[full ? 'pause' : 'resume']();
      lastActiveAt = performance.now();
    },
    close() {
      over = true;
      sending.clear();
      socket?.end();
    },
  };
}

/** Enforces the rate of messages, and one pong per ping. */
function createFrameCounter() {
  let second = 0;
  let messages = 0;
  /** Pings without an answer. */
  let pingsOut = 0;
  return {
    sent({ t }: ToSidecar): void {
      if (t === 'ping') pingsOut++;
    },
    /** @throws Error if the sidecar exceeds a limit */
    received(message: SidecarMessage, atMs: number): void {
      const now = Math.floor(atMs / 1000);
      messages = now === second ? messages + 1 : 1;
      second = now;
      if (messages > messagesPerSecondMax)
        throw new Error(`More than ${messagesPerSecondMax} messages per second.`);
      if (message.t === 'pong' && pingsOut-- === 0) throw new Error('A pong without a ping.');
    },
  };
}
