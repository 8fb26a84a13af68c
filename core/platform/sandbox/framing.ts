// Encodes messages as frames: u32 size of the rest, u32 size of the head, the head, the tail (UTF-8); sizes are little-endian. A frame
// carries the messages of a tick. The head is a list of JSON objects, always small and cheap to parse. The tail holds their long
// texts one after the other, unescaped; each object has the lengths of its texts in UTF-16 units.
import { kvTextMax } from './protocol.ts';
import type { FromSidecar, RunEnd, ToSidecar } from './protocol.ts';

/** A larger frame is a protocol violation; the largest frame of the core is a bundle of 4 Mi characters. */
export const frameBytesMax = 16 * 1024 * 1024;
const sizesBytes = 8;
/** Maximum number of UTF-8 bytes per UTF-16 unit. */
export const bytesPerUnit = 3;
/** Up to this length the buffer is sized for the worst case, which is cheaper than counting bytes. */
const guessedUnitsMax = 16 * 1024;
/** A frame with several messages has a shorter head and a shorter tail. */
const headUnitsMax = 16 * 1024;
const tailUnitsMax = kvTextMax;

export interface Frame {
  head: string;
  tail: string;
}

export interface FrameBounds {
  frameBytes: number;
  headBytes: number;
}

export interface FrameReader {
  /**
   * Calls `take` for each frame that this chunk completes; does not retain the chunk.
   * @throws Error as soon as a frame claims a size above its bounds, and what `take` throws
   */
  push(chunk: Uint8Array, take: (frame: Frame) => void): void;
}

/** Splits a byte stream into frames. `bounds` is called for each frame when its sizes are read. */
export function createFrameReader(bounds: () => FrameBounds): FrameReader {
  /** Copies of the received bytes of an incomplete frame, and the number of bytes from which on reading continues. */
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let wantedBytes = 0;

  const retain = (bytes: Buffer): void => {
    pending.push(Buffer.from(bytes));
    pendingBytes += bytes.byteLength;
  };

  const join = (): Buffer => {
    const whole = Buffer.concat(pending);
    pending = [];
    pendingBytes = 0;
    return whole;
  };

  return {
    push(chunk, take) {
      let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      if (pendingBytes > 0) {
        retain(bytes);
        if (pendingBytes < wantedBytes) return;
        bytes = join();
      }
      let at = 0;
      wantedBytes = sizesBytes;
      while (bytes.byteLength - at >= sizesBytes) {
        const size = bytes.readUInt32LE(at);
        const headBytes = bytes.readUInt32LE(at + 4);
        checkSizes(size, headBytes, bounds());
        const end = at + 4 + size;
        if (bytes.byteLength < end) {
          wantedBytes = 4 + size;
          break;
        }
        const headEnd = at + sizesBytes + headBytes;
        const head = bytes.toString('utf8', at + sizesBytes, headEnd);
        const tail = headEnd === end ? '' : bytes.toString('utf8', headEnd, end);
        at = end;
        take({ head, tail });
      }
      if (at < bytes.byteLength) retain(bytes.subarray(at));
    },
  };
}

/** @throws Error if a size exceeds its bound */
function checkSizes(size: number, headBytes: number, most: FrameBounds): void {
  if (size > most.frameBytes || headBytes > most.headBytes || headBytes + 4 > size)
    throw new Error(
      `A frame claims ${size} bytes with a head of ${headBytes} bytes; the limit is ${most.frameBytes} bytes.`,
    );
}

/** Collects the messages of a tick, so that they need one frame and one write. */
export interface FrameWriter {
  /** UTF-16 units that wait. */
  readonly units: number;
  add(message: ToSidecar | FromSidecar): void;
  /** Returns the collected messages as bytes, and starts anew. */
  take(): Uint8Array;
}

export function createFrameWriter(): FrameWriter {
  /** Frames before the current one. */
  let full: Frame[] = [];
  let head = '';
  let tail = '';
  let units = 0;
  return {
    get units() {
      return units;
    },
    add(message) {
      const { head: object, tail: text } = split(message);
      units += object.length + text.length;
      const isFull = head.length + object.length > headUnitsMax || tail.length + text.length > tailUnitsMax;
      if (head !== '' && isFull) {
        full.push({ head, tail });
        head = tail = '';
      }
      head = head === '' ? object : `${head},${object}`;
      tail += text;
    },
    take() {
      const last = { head, tail };
      const before = full;
      full = [];
      head = tail = '';
      units = 0;
      return before.length === 0 ? encoded(last) : Buffer.concat([...before, last].map(encoded));
    },
  };
}

function encoded({ head, tail }: Frame): Uint8Array {
  const units = head.length + tail.length;
  const most =
    units <= guessedUnitsMax ? units * bytesPerUnit : Buffer.byteLength(head) + Buffer.byteLength(tail);
  const out = Buffer.allocUnsafe(sizesBytes + most);
  const headBytes = out.write(head, sizesBytes);
  const tailBytes = tail === '' ? 0 : out.write(tail, sizesBytes + headBytes);
  out.writeUInt32LE(headBytes + tailBytes + 4, 0);
  out.writeUInt32LE(headBytes, 4);
  return out.subarray(0, sizesBytes + headBytes + tailBytes);
}

/** Moves the long texts of a message into the tail. The frequent types are built by hand for speed; a nonce needs no escapes. */
function split(message: ToSidecar | FromSidecar): Frame {
  switch (message.t) {
    case 'drained': {
      const { run, acked, said } = message;
      const { heads, texts } = said;
      const head = `{"t":"drained","run":"${run}","acked":${acked},"heads":${heads.length},"texts":${texts.length}}`;
      return { head, tail: heads + texts };
    }
    case 'end': {
      const { run, end, acked, cpuMs, memoryBytes, isolates, open } = message;
      const usage = `${open ? '"open":true,' : ''}"acked":${acked},"cpuMs":${cpuMs},"memoryBytes":${memoryBytes},"isolates":${isolates}`;
      return { head: `{"t":"end","run":"${run}",${usage},"end":${textOf(end)}}`, tail: '' };
    }
    case 'answer': {
      const { run, call, elapsedMs, value, more } = message;
      const about = `"call":${call},"elapsedMs":${elapsedMs},"units":${value.length}`;
      return { head: `{"t":"answer","run":"${run}",${about}${more ? ',"more":true' : ''}}`, tail: value };
    }
    case 'run':
      return apart({ ...message, input: undefined }, message.input);
    case 'code':
    case 'describe':
      return apart({ ...message, source: undefined }, message.source);
    case 'init':
      return apart({ ...message, guest: undefined }, message.guest);
    case 'described':
      return apart({ ...message, manifest: undefined }, message.manifest);
    default:
      return { head: JSON.stringify(message), tail: '' };
  }
}

/** JSON.stringify omits undefined fields from the head. */
function apart(head: object, tail: string): Frame {
  return { head: JSON.stringify({ ...head, units: tail.length }), tail };
}

function textOf(end: RunEnd): string {
  const isPlain = end.status === 'succeeded' && end.progress === undefined && end.result === undefined;
  return isPlain ? '{"status":"succeeded"}' : JSON.stringify(end);
}

/** Field with the long text, per type of message to the sidecar. */
const longTextOf: Partial<Record<string, string>> = {
  init: 'guest',
  code: 'source',
  run: 'input',
  answer: 'value',
  describe: 'source',
};

/** Decodes a frame in the sidecar, without validation: the sidecar trusts the core. */
export function readOrders({ head, tail }: Frame, receive: (message: ToSidecar) => void): void {
  const messages = JSON.parse(`[${head}]`) as Record<string, unknown>[];
  let at = 0;
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    const units = message['units'] as number | undefined;
    if (units !== undefined) message[longTextOf[message['t'] as string]!] = tail.slice(at, (at += units));
    receive(message as ToSidecar);
  }
}
