// Sends messages to one sidecar, and bounds the memory that its unread output and its host calls use in the
// core.
import { FairQueue } from '../../lib/fairness/fair-queue.ts';
import type { Owner } from '../dispatch.ts';
import { createFrameWriter } from '../framing.ts';
import type { ToSidecar } from '../protocol.ts';

/** Maximum unread output. Bundles, inputs and the answers that `CallCapacity` admits stay far below it. */
const waitingBytesMax = 128 * 1024 * 1024;

interface SendingOptions {
  /** Called when the backlog may have shrunk. */
  onSent(): void;
  onBreach(why: string): void;
}

/** Writes all messages of a tick at once, and stores unread output in a bounded buffer. */
interface Sending {
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
  let outgoing = createFrameWriter();

  const flush = (): void => {
    if (!begun || outgoing.units === 0) return;
    waiting.push(outgoing.take());
    if (waiting.bytes > waitingBytesMax) options.onBreach(`${waiting.bytes} bytes of output are unread.`);
    else options.onSent();
  };

  return {
    get backlog() {
      return waiting.bytes + outgoing.units;
    },
    get waitsSince() {
      return waiting.bytes > 0 ? waiting.takenAt : undefined;
    },
    begin(first) {
      begun = true;
      const greeting = createFrameWriter();
      greeting.add(first);
      waiting.push(greeting.take());
      flush();
    },
    send(message) {
      if (outgoing.units === 0) setImmediate(flush);
      outgoing.add(message);
    },
    drain() {
      waiting.drain();
      options.onSent();
    },
    clear() {
      outgoing = createFrameWriter();
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

/** Shorter answers are not paced; their cost is negligible. */
const longUnitsMin = 16 * 1024;
const longUnitsPerMs = 8 * 1024;
const restMsMax = 20;

/**
 * Memory for the arguments and answers of host calls. A call above the capacity waits in a queue that is fair
 * between workspaces and installs, and reading from the sidecar is paused until the queue is empty. Also
 * paces long answers, because each blocks the core for milliseconds.
 */
export interface CallCapacity {
  /** Reserves capacity: at once (returns undefined), or by the time that the promise resolves. */
  enter(owner: Owner, units: number): Promise<void> | undefined;
  leave(units: number): void;
  /** Returns the time that an answer of this length must wait, so that the core pauses after long ones. */
  pauseMs(units: number): number;
  /** Admits waiting calls that fit now, strictly in queue order, so that small calls do not starve a large one. */
  admit(): void;
}

interface CallCapacityOptions {
  /** Capacity in UTF-16 units; one call is always admitted, whatever its size. */
  readonly unitsMax: number;
  /** Returns the amount of output that the sidecar has not read. */
  backlog(): number;
  /** Called with true when a call has to wait, and with false when none waits any more. */
  onFull(full: boolean): void;
}

interface Entrant {
  readonly units: number;
  enter(): void;
}

export function createCallCapacity(options: CallCapacityOptions): CallCapacity {
  /** Bounded by the calls of one chunk of frames, because reading pauses while a call waits. */
  const waiting = new FairQueue<Entrant>();
  let taken = 0;
  let restsUntil = 0;

  const fits = (units: number): boolean => {
    const inUse = taken + options.backlog();
    return inUse === 0 || inUse + units <= options.unitsMax;
  };

  const takeNext = (): Entrant | undefined => {
    let isFirst = true;
    return waiting.take(({ units }) => {
      const mayEnter = isFirst && fits(units);
      isFirst = false;
      return mayEnter;
    });
  };

  const admit = (): void => {
    if (waiting.isEmpty) return;
    for (let next = takeNext(); next; next = takeNext()) {
      taken += next.units;
      next.enter();
    }
    if (waiting.isEmpty) options.onFull(false);
  };

  return {
    admit,
    enter({ workspaceId, installId }, units) {
      if (waiting.isEmpty && fits(units)) {
        taken += units;
        return undefined;
      }
      if (waiting.isEmpty) options.onFull(true);
      return new Promise((enter) => waiting.push(workspaceId, installId, { units, enter }));
    },
    leave(units) {
      taken -= units;
      admit();
    },
    pauseMs(units) {
      if (units < longUnitsMin) return 0;
      const now = performance.now();
      const from = Math.max(now, restsUntil);
      restsUntil = from + Math.min(units / longUnitsPerMs, restMsMax);
      return from - now;
    },
  };
}
