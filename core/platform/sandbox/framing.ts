// Encodes messages as frames: u32 size of the rest, u32 size of the head, the head (JSON), the tail (UTF-8); sizes are
// little-endian. The tail holds the long texts of a message, unescaped, and the head their lengths in UTF-16 units, so that the
// head is always small and cheap to parse.
import type { FromSidecar, ToSidecar } from './protocol.ts';

/** A larger frame is a protocol violation; the largest frame of the core is a bundle of 4 Mi characters. */
export const frameBytesMax = 16 * 1024 * 1024;
const sizesBytes = 8;
/** Maximum number of UTF-8 bytes per UTF-16 unit. */
export const bytesPerUnit = 3;
/** Up to this length the buffer is sized for the worst case, which is cheaper than counting bytes. */
const guessedUnitsMax = 16 * 1024;

/** Field with the long text, per type of message to the sidecar. */
const longTextOf: Partial<Record<string, string>> = {
  init: 'guest',
  code: 'source',
  run: 'input',
  answer: 'value',
  describe: 'source',
};

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
  /** Received bytes of incomplete frames; between two chunks, less than one frame. */
  let pending: Buffer[] = [];
  let pendingBytes = 0;

  /** Returns a buffer that begins with the pending bytes, at least `bytes` of them if as many are pending. */
  const join = (bytes: number): Buffer => {
    const [first] = pending;
    if (first && (pending.length === 1 || first.byteLength >= bytes)) return first;
    const whole = Buffer.concat(pending);
    pending = [whole];
    return whole;
  };

  const retainFrom = (at: number): void => {
    pendingBytes -= at;
    pending = pendingBytes === 0 ? [] : [Buffer.from(join(at + pendingBytes).subarray(at))];
  };

  return {
    push(chunk, take) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const isContinued = pendingBytes > 0;
      pending.push(isContinued ? Buffer.from(bytes) : bytes);
      pendingBytes += bytes.byteLength;
      // Start of the next frame in the pending bytes.
      let at = 0;
      while (pendingBytes - at >= sizesBytes) {
        const start = join(at + sizesBytes);
        const size = start.readUInt32LE(at);
        const headBytes = start.readUInt32LE(at + 4);
        checkSizes(size, headBytes, bounds());
        const end = at + 4 + size;
        if (pendingBytes < end) break;
        const whole = join(end);
        const headEnd = at + sizesBytes + headBytes;
        const head = whole.toString('utf8', at + sizesBytes, headEnd);
        const tail = headEnd === end ? '' : whole.toString('utf8', headEnd, end);
        at = end;
        take({ head, tail });
      }
      if (at > 0 || !isContinued) retainFrom(at);
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

/** Encodes many frames into one buffer, so that a tick needs only one write. */
export function encodeFrames(messages: readonly (ToSidecar | FromSidecar)[]): Uint8Array {
  const frames = messages.map(split);
  let units = 0;
  for (const { head, tail } of frames) units += head.length + tail.length;
  const out = Buffer.allocUnsafe(frames.length * sizesBytes + bytesOf(frames, units));
  let at = 0;
  for (const { head, tail } of frames) {
    const headBytes = out.write(head, at + sizesBytes);
    const tailBytes = tail === '' ? 0 : out.write(tail, at + sizesBytes + headBytes);
    out.writeUInt32LE(headBytes + tailBytes + 4, at);
    out.writeUInt32LE(headBytes, at + 4);
    at += sizesBytes + headBytes + tailBytes;
  }
  return at === out.byteLength ? out : out.subarray(0, at);
}

/** Returns a sufficient buffer size for these texts: the worst case if that is small, otherwise the exact size. */
function bytesOf(frames: readonly Frame[], units: number): number {
  if (units <= guessedUnitsMax) return units * bytesPerUnit;
  let bytes = 0;
  for (const { head, tail } of frames) bytes += Buffer.byteLength(head) + Buffer.byteLength(tail);
  return bytes;
}

/** Returns the length of the message's long text in UTF-16 units. */
export function unitsOf(message: ToSidecar): number {
  switch (message.t) {
    case 'answer':
      return message.value.length;
    case 'run':
      return message.input.length;
    case 'code':
    case 'describe':
      return message.source.length;
    default:
      return 0;
  }
}

/** Moves the long texts of a message into the tail. The two frequent types are built by hand for speed; a nonce needs no escapes. */
function split(message: ToSidecar | FromSidecar): Frame {
  switch (message.t) {
    case 'drained': {
      const { run, acked, said } = message;
      return {
        head: `{"t":"drained","run":"${run}","acked":${acked},"said":[${said.heads}]}`,
        tail: said.texts,
      };
    }
    case 'answer': {
      const { run, call, elapsedMs, value, more } = message;
      const together = more ? ',"more":true' : '';
      const head = `{"t":"answer","run":"${run}","call":${call},"elapsedMs":${elapsedMs}${together}}`;
      return { head, tail: value };
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
      return apart(message, '');
  }
}

/** JSON.stringify omits undefined fields from the head. */
function apart(head: object, tail: string): Frame {
  return { head: JSON.stringify(head), tail };
}

/** Decodes a frame in the sidecar, without validation: the sidecar trusts the core. */
export function readOrder({ head, tail }: Frame): ToSidecar {
  const message = JSON.parse(head) as Record<string, unknown>;
  const key = longTextOf[String(message['t'])];
  if (key !== undefined) message[key] = tail;
  return message as ToSidecar;
}
