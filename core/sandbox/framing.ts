/**
 * Messages as bytes: u32 size of what follows, u32 size of the head, the head (JSON), the tail (UTF-8); sizes little-endian. A
 * message's long texts lie in the tail, unescaped, and its head holds their lengths in UTF-16 units: a head is small and cheap to read
 * whatever it comes with.
 */
import type { FromSidecar, ToSidecar } from './protocol.ts';

/** Above this a frame is a protocol violation; the largest the core sends is a bundle of 4 Mi characters. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024;
const SIZES_BYTES = 8;

/** The one long text of a message. Those of `drained` are its arguments and log lines, one after the other. */
const LONG_TEXT: Partial<Record<string, string>> = {
  init: 'guest',
  code: 'source',
  run: 'input',
  answer: 'value',
  describe: 'source',
  described: 'manifest',
};

export interface Frame {
  head: string;
  tail: string;
}

export interface FrameBounds {
  frameBytes: number;
  headBytes: number;
}

/** Cuts a byte stream into frames. What `bounds` answers holds for the frame whose sizes are read next. */
export class FrameReader {
  #bounds: () => FrameBounds;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(bounds: () => FrameBounds) {
    this.#bounds = bounds;
  }

  /** Frames that this chunk completes, one by one. @throws Error as soon as a frame claims more than it may have */
  *push(chunk: Uint8Array): Generator<Frame> {
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.byteLength;
    for (let size = this.#nextSize(); size !== undefined; size = this.#nextSize()) {
      const whole = this.#join(this.#pendingBytes);
      this.#pending = [whole.subarray(4 + size)];
      this.#pendingBytes = whole.byteLength - 4 - size;
      const headEnd = SIZES_BYTES + uint32At(whole, 4);
      yield {
        head: this.#decoder.decode(whole.subarray(SIZES_BYTES, headEnd)),
        tail: headEnd === 4 + size ? '' : this.#decoder.decode(whole.subarray(headEnd, 4 + size)),
      };
    }
  }

  /** The size that the next frame claims, once the frame is complete. */
  #nextSize(): number | undefined {
    if (this.#pendingBytes < SIZES_BYTES) return undefined;
    const start = this.#join(SIZES_BYTES);
    const size = uint32At(start, 0);
    const headBytes = uint32At(start, 4);
    const most = this.#bounds();
    if (size > most.frameBytes || headBytes > most.headBytes || headBytes + 4 > size)
      throw new Error(
        `A frame claims ${size} bytes with a head of ${headBytes}; the most is now ${most.frameBytes}.`,
      );
    return this.#pendingBytes >= 4 + size ? size : undefined;
  }

  /** What is pending, its first `bytes` in one piece. */
  #join(bytes: number): Uint8Array {
    const [first] = this.#pending;
    if (first && first.byteLength >= bytes) return first;
    const whole = Buffer.concat(this.#pending);
    this.#pending = [whole];
    return whole;
  }
}

function uint32At(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true);
}

/** One buffer of many frames, so that a tick costs one write. */
export function encodeFrames(messages: readonly (ToSidecar | FromSidecar)[]): Uint8Array {
  const encoder = new TextEncoder();
  const parts = messages.map((message) => {
    const { head, tail } = split(message);
    return { head: encoder.encode(head), tail: encoder.encode(tail) };
  });
  const size = parts.reduce(
    (sum, { head, tail }) => sum + SIZES_BYTES + head.byteLength + tail.byteLength,
    0,
  );
  const out = new Uint8Array(size);
  const view = new DataView(out.buffer);
  let at = 0;
  for (const { head, tail } of parts) {
    view.setUint32(at, 4 + head.byteLength + tail.byteLength, true);
    view.setUint32(at + 4, head.byteLength, true);
    out.set(head, at + SIZES_BYTES);
    out.set(tail, at + SIZES_BYTES + head.byteLength);
    at += SIZES_BYTES + head.byteLength + tail.byteLength;
  }
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

function split(message: ToSidecar | FromSidecar): Frame {
  if (message.t === 'drained') {
    let tail = '';
    const calls = message.calls.map(([call, op, args]) => ((tail += args), [call, op, args.length]));
    const logs = message.logs.map(([level, text]) => ((tail += text), [level, text.length]));
    return { head: JSON.stringify({ ...message, calls, logs }), tail };
  }
  const key = LONG_TEXT[message.t];
  if (key === undefined) return { head: JSON.stringify(message), tail: '' };
  const fields: Record<string, unknown> = { ...message };
  const tail = fields[key] as string;
  delete fields[key];
  return { head: JSON.stringify(fields), tail };
}

/** The sidecar's reading; it trusts the core. */
export function readOrder({ head, tail }: Frame): ToSidecar {
  const message = JSON.parse(head) as Record<string, unknown>;
  const key = LONG_TEXT[String(message['t'])];
  if (key !== undefined) message[key] = tail;
  return message as ToSidecar;
}
