// Sends messages to one sidecar: all messages of a tick in one write, and unread output in a bounded buffer.
import { encodeFrames, unitsOf } from '../framing.ts';
import type { ToSidecar } from '../protocol.ts';

/** Maximum unread output. Bundles, inputs and the answers that `CallCapacity` admits stay far below it. */
const waitingBytesMax = 128 * 1024 * 1024;

export interface SendingOptions {
  /** Called after these messages were encoded. */
  onFlushed(messages: readonly ToSidecar[]): void;
  /** Called when the backlog may have shrunk. */
  onSent(): void;
  onBreach(why: string): void;
}

export interface Sending {
  /** Output that the sidecar has not read: bytes of encoded messages plus UTF-16 units of the others. */
  readonly backlog: number;
  /** Time when the sidecar last read something; undefined if no output waits. */
  readonly waitsSince: number | undefined;
  /** Starts writing, with `first` before the messages that wait already. */
  begin(first: ToSidecar): void;
  send(message: ToSidecar): void;
  /** Call when the socket is writable again. */
  drain(): void;
  clear(): void;
}

/** @param write returns the number of bytes written; negative for none */
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
    if (waiting.bytes > waitingBytesMax) options.onBreach(`${waiting.bytes} bytes of output are unread.`);
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

/** Output that the sidecar has not read yet. */
interface Backlog {
  readonly bytes: number;
  /** Time when the sidecar last read something, or had nothing to read. */
  readonly takenAt: number;
  push(bytes: Uint8Array): void;
  /** Call when the socket is writable again. */
  drain(): void;
  clear(): void;
}

/** @param write returns the number of bytes written; negative for none */
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
