// Messages as bytes: u32 size of what follows, u32 size of the head, the head (JSON), the tail (UTF-8); sizes
// little-endian. A message's long texts lie in the tail, unescaped, and its head holds their lengths in UTF-16 units:
// a head is small and cheap to read whatever it comes with.
import type { FromSidecar, ToSidecar } from './protocol.ts';

/** Above this a frame is a protocol violation; the largest the core sends is a bundle of 4 Mi characters. */
export const frameBytesMax = 16 * 1024 * 1024;
const sizesBytes = 8;

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
  /** Frames that this chunk completes, one by one. @throws Error as soon as a frame claims more than it may have */
  push(chunk: Uint8Array): Generator<Frame>;
}

/** Cuts a byte stream into frames. What `bounds` answers holds for the frame whose sizes are read next. */
export function createFrameReader(bounds: () => FrameBounds): FrameReader {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** Less than one frame, between two chunks. */
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;

  /** What is pending, its first `bytes` in one piece. */
  const join = (bytes: number): Uint8Array => {
    const [first] = pending;
    if (first && first.byteLength >= bytes) return first;
    const whole = Buffer.concat(pending);
    pending = [whole];
    return whole;
  };

  /** The size that the next frame claims, once the frame is complete. */
  const nextSize = (): number | undefined => {
    if (pendingBytes < sizesBytes) return undefined;
    const start = join(sizesBytes);
    const size = uint32At(start, 0);
    const headBytes = uint32At(start, 4);
    const most = bounds();
    if (size > most.frameBytes || headBytes > most.headBytes || headBytes + 4 > size)
      throw new Error(
        `A frame claims ${size} bytes with a head of ${headBytes}; the most is now ${most.frameBytes}.`,
      );
    return pendingBytes >= 4 + size ? size : undefined;
  };

  return {
    *push(chunk) {
      pending.push(chunk);
      pendingBytes += chunk.byteLength;
      for (let size = nextSize(); size !== undefined; size = nextSize()) {
        const whole = join(pendingBytes);
        pending = [whole.subarray(4 + size)];
        pendingBytes = whole.byteLength - 4 - size;
        const headEnd = sizesBytes + uint32At(whole, 4);
        yield {
          head: decoder.decode(whole.subarray(sizesBytes, headEnd)),
          tail: headEnd === 4 + size ? '' : decoder.decode(whole.subarray(headEnd, 4 + size)),
        };
      }
    },
  };
}

/** Little-endian. */
function uint32At(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
}

/** One buffer of many frames, so that a tick costs one write. */
export function encodeFrames(messages: readonly (ToSidecar | FromSidecar)[]): Uint8Array {
  const frames = messages.map(split);
  let size = 0;
  const heads: number[] = [];
  const sizes: number[] = [];
  for (const { head, tail } of frames) {
    const headBytes = Buffer.byteLength(head);
    const bytes = sizesBytes + headBytes + (tail === '' ? 0 : Buffer.byteLength(tail));
    heads.push(headBytes);
    sizes.push(bytes);
    size += bytes;
  }
  const out = Buffer.allocUnsafe(size);
  let at = 0;
  frames.forEach(({ head, tail }, index) => {
    const headBytes = heads[index] ?? 0;
    const bytes = sizes[index] ?? 0;
    out.writeUInt32LE(bytes - 4, at);
    out.writeUInt32LE(headBytes, at + 4);
    out.write(head, at + sizesBytes);
    if (tail !== '') out.write(tail, at + sizesBytes + headBytes);
    at += bytes;
  });
  return out;
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

/** A message's long texts are its tail; those of `drained` are its arguments and log lines, one after the other. */
function split(message: ToSidecar | FromSidecar): Frame {
  switch (message.t) {
    case 'drained': {
      const { calls, logs } = message;
      let tail = '';
      for (const call of calls) tail += call[2];
      for (const log of logs) tail += log[1];
      const lengths = {
        calls: calls.map(([call, op, args]) => [call, op, args.length]),
        logs: logs.map(([level, text]) => [level, text.length]),
      };
      return {
        head: JSON.stringify({ t: 'drained', run: message.run, acked: message.acked, ...lengths }),
        tail,
      };
    }
    case 'answer':
      return apart({ ...message, value: undefined }, message.value);
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
