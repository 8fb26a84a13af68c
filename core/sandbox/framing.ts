// Messages as bytes: u32 size of what follows, u32 size of the head, the head (JSON), the tail (UTF-8); sizes
// little-endian. A message's long texts lie in the tail, unescaped, and its head holds their lengths in UTF-16 units:
// a head is small and cheap to read whatever it comes with.
import type { FromSidecar, ToSidecar } from './protocol.ts';

/** Above this a frame is a protocol violation; the largest the core sends is a bundle of 4 Mi characters. */
export const frameBytesMax = 16 * 1024 * 1024;
const sizesBytes = 8;
/** UTF-8 needs at most this much for a UTF-16 unit. */
export const bytesPerUnit = 3;
/** Texts of so many units are given the most room that they can need: that is cheaper than to count it. */
const guessedUnitsMax = 16 * 1024;

/** The one long text of a message to the sidecar. */
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
   * Gives `take` the frames that this chunk completes, one by one; the chunk is not kept.
   * @throws Error as soon as a frame claims more than it may have, and what `take` throws
   */
  push(chunk: Uint8Array, take: (frame: Frame) => void): void;
}

/** Cuts a byte stream into frames. What `bounds` answers holds for the frame whose sizes are read next. */
export function createFrameReader(bounds: () => FrameBounds): FrameReader {
  /** Less than one frame, between two chunks. */
  let pending: Buffer[] = [];
  let pendingBytes = 0;

  /** What is pending, its first `bytes` in one piece. */
  const join = (bytes: number): Buffer => {
    const [first] = pending;
    if (first && (pending.length === 1 || first.byteLength >= bytes)) return first;
    const whole = Buffer.concat(pending);
    pending = [whole];
    return whole;
  };

  const keepFrom = (at: number): void => {
    pendingBytes -= at;
    pending = pendingBytes === 0 ? [] : [Buffer.from(join(at + pendingBytes).subarray(at))];
  };

  return {
    push(chunk, take) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const isContinued = pendingBytes > 0;
      pending.push(isContinued ? Buffer.from(bytes) : bytes);
      pendingBytes += bytes.byteLength;
      // Where the next frame begins in what is pending.
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
      if (at > 0 || !isContinued) keepFrom(at);
    },
  };
}

/** @throws Error when they are more than they may be */
function checkSizes(size: number, headBytes: number, most: FrameBounds): void {
  if (size > most.frameBytes || headBytes > most.headBytes || headBytes + 4 > size)
    throw new Error(
      `A frame claims ${size} bytes with a head of ${headBytes}; the most is now ${most.frameBytes}.`,
    );
}

/** One buffer of many frames, so that a tick costs one write. */
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

/** Enough for these texts: the most that they can be where that is little, else what they are. */
function bytesOf(frames: readonly Frame[], units: number): number {
  if (units <= guessedUnitsMax) return units * bytesPerUnit;
  let bytes = 0;
  for (const { head, tail } of frames) bytes += Buffer.byteLength(head) + Buffer.byteLength(tail);
  return bytes;
}

/** UTF-16 units of its long text. */
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

/** A message's long texts are its tail. What every run says and hears is put together by hand; its nonce needs no escapes. */
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

/** What is undefined is not in the head. */
function apart(head: object, tail: string): Frame {
  return { head: JSON.stringify(head), tail };
}

/** The sidecar's reading; it trusts the core. */
export function readOrder({ head, tail }: Frame): ToSidecar {
  const message = JSON.parse(head) as Record<string, unknown>;
  const key = longTextOf[String(message['t'])];
  if (key !== undefined) message[key] = tail;
  return message as ToSidecar;
}
