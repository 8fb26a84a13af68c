// What the core sends to one sidecar: messages of one tick leave in one write, and what the other end has not taken waits, up to a
// bound.
import { encodeFrames, unitsOf } from '../framing.ts';
import type { ToSidecar } from '../protocol.ts';

/** Honest traffic stays far below: bundles, inputs, and answers as far as `Room` lets calls in. */
const waitingBytesMax = 128 * 1024 * 1024;

export interface SendingOptions {
  /** These messages were encoded. */
  onFlushed(messages: readonly ToSidecar[]): void;
  /** Some of what waited to be read by the other end has left. */
  onSent(): void;
  onBreach(why: string): void;
}

export interface Sending {
  /** What the other end has not taken, in bytes and in units of what is not yet encoded. */
  readonly backlog: number;
  /** When the other end last took something, while more waits for it. */
  readonly waitsSince: number | undefined;
  /** Once it can be written: this message goes ahead of those that were sent already. */
  begin(first: ToSidecar): void;
  send(message: ToSidecar): void;
  /** The other end takes again. */
  drain(): void;
  clear(): void;
}

/** @param write returns how many bytes were taken; below 0 for none */
export function createSending(write: (bytes: Uint8Array) => number, options: SendingOptions): Sending {
  const waiting = createBacklog(write);
  let begun = false;
  let outgoing: ToSidecar[] = [];
  let outgoingUnits = 0;

  const flush = (): void => {
    if (!begun || outgoing.length === 0) return;
    const messages = outgoing;
    outgoing = [];
    outgoingUnits = 0;
    options.onFlushed(messages);
    waiting.push(encodeFrames(messages));
    if (waiting.bytes > waitingBytesMax) options.onBreach(`${waiting.bytes} bytes wait for it to read them.`);
    else options.onSent();
  };

  return {
    get backlog() {
      return waiting.bytes + outgoingUnits;
    },
    get waitsSince() {
      return waiting.bytes > 0 ? waiting.takenAt : undefined;
    },
    begin(first) {
      begun = true;
      outgoing.unshift(first);
      flush();
    },
    send(message) {
      outgoingUnits += unitsOf(message);
      if (outgoing.push(message) === 1) setImmediate(flush);
    },
    drain() {
      waiting.drain();
      options.onSent();
    },
    clear() {
      outgoing = [];
      waiting.clear();
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
