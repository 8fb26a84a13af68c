/**
 * What the core and the sidecar say to each other over the inherited descriptor 3: JSON messages, each behind a u32 little-endian
 * byte length. Both ends import this file and nothing else of each other. The core believes none of it: see `run.ts`.
 */

/** Above this a frame is a protocol violation; the largest honest one carries a 2.2 MB KV value, escaped. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024;

/** Guest argument and result text, in UTF-16 units: a KV value may be 2 MiB, everything else is small. */
export const TEXT_MAX = 256 * 1024;
export const KV_TEXT_MAX = 2_200_000;
export const INPUT_MAX = 160 * 1024;
export const CODE_MAX = 4 * 1024 * 1024;

export function textMaxOf(op: string): number {
  return op === 'kv.get' || op === 'kv.set' || op === 'kv.compareAndSet' ? KV_TEXT_MAX : TEXT_MAX;
}

export interface RunLimits {
  /** Processor time of the whole run. */
  cpuMs: number;
  /** Processor time of one uninterrupted stretch of guest code. */
  entryMs: number;
  /** In which the run waits for nothing but itself: timers, promises that nobody settles. */
  wallMs: number;
  memoryMb: number;
  calls: number;
  concurrentCalls: number;
  logBytes: number;
  logLines: number;
  /** Processor time of evaluating the module and of registering its handlers. */
  startupMs: number;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** How far the operating system holds the sidecar; `landlock` is the ABI version, 0 when the kernel has none. */
export interface JailReport {
  landlock: number;
  seccomp: boolean;
  rlimits: boolean;
}

export type ToSidecar =
  /** First message: the guest program that every isolate gets before its plugin. */
  | { t: 'init'; guest: string; isolatesMax: number; idleMs: number }
  /** A plugin's bundle, once per sidecar unless forgotten. */
  | { t: 'code'; sha256: string; source: string }
  | {
      t: 'run';
      run: number;
      isolate: string;
      sha256: string;
      /** Names such as `event:issue.created` that the module must register, sorted; null skips the comparison. */
      handlers: string[] | null;
      handler: string;
      input: string;
      limits: RunLimits;
      fresh: boolean;
    }
  /** `value` is JSON text; an error travels as code and message. `elapsedMs` is the run's age on the guest's clock from now on. */
  | { t: 'answer'; run: number; call: number; elapsedMs: number; value: string }
  | { t: 'refuse'; run: number; call: number; elapsedMs: number; code: string; message: string }
  | { t: 'stop'; run: number }
  /** Drops idle isolates whose name begins with `prefix`. */
  | { t: 'evict'; prefix: string }
  /** Drops bundles; those that are needed again are sent again. */
  | { t: 'forget'; codes: string[] }
  /** Loads a module in a new isolate and reports its definition. */
  | { t: 'describe'; run: number; source: string; limits: RunLimits }
  | { t: 'ping' };

export type EndReason =
  'error' | 'retry_later' | 'drop' | 'cpu' | 'memory' | 'call_budget' | 'startup' | 'rejection' | 'protocol';

/** How far a schedule has come; one that is not at its end is run again at once. */
export interface Progress {
  done: number;
  of: number;
  /** What is counted: "teams". */
  unit?: string;
}

/** The value when it is a progress and nothing else. */
export function readProgress(value: unknown): Progress | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { done, of, unit } = value as Record<string, unknown>;
  if (typeof done !== 'number' || typeof of !== 'number') return undefined;
  if (!(done >= 0 && done <= of && of <= 1e9)) return undefined;
  if (unit === undefined) return { done, of };
  return typeof unit === 'string' && /^[\p{L}\p{N}][\p{L}\p{N} -]{0,39}$/u.test(unit)
    ? { done, of, unit }
    : undefined;
}

export type RunEnd =
  | { status: 'succeeded'; progress?: Progress }
  /** `killed`: the isolate died of it. */
  | { status: 'failed'; reason: EndReason; message: string; retryAfterMs?: number; killed: boolean }
  | { status: 'stopped' };

export type FromSidecar =
  | { t: 'ready'; jail: JailReport }
  | { t: 'pong'; isolates: number }
  /** After an entry. `acked` counts the core's messages (run and answers) this run has consumed: more sent than acked means guest code may be running. */
  | {
      t: 'drained';
      run: number;
      acked: number;
      calls: [call: number, op: string, args: string][];
      logs: [level: LogLevel, message: string][];
    }
  | { t: 'end'; run: number; end: RunEnd; cpuMs: number; memoryBytes: number; isolates: number }
  | { t: 'described'; run: number; manifest: string }
  /** A thread of this process can no longer be stopped: kill it. `run` names the culprit. */
  | { t: 'tainted'; run: number; reason: 'cpu' | 'memory'; message: string; cpuMs: number };

/** Cuts a byte stream into frame bodies. @throws Error when a frame claims more than FRAME_BYTES_MAX. */
export class FrameReader {
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #decoder = new TextDecoder();

  /** Frames completed by this chunk, as text. */
  push(chunk: Uint8Array): string[] {
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.byteLength;
    const frames: string[] = [];
    for (let size = this.#nextSize(); size !== undefined; size = this.#nextSize()) {
      const whole = this.#join();
      frames.push(this.#decoder.decode(whole.subarray(4, 4 + size)));
      this.#pending = [whole.subarray(4 + size)];
      this.#pendingBytes = whole.byteLength - 4 - size;
    }
    return frames;
  }

  /** Body bytes of the frame at the head when it is complete. */
  #nextSize(): number | undefined {
    if (this.#pendingBytes < 4) return undefined;
    if ((this.#pending[0]?.byteLength ?? 0) < 4) this.#join();
    const head = this.#pending[0] as Uint8Array;
    const size = new DataView(head.buffer, head.byteOffset, 4).getUint32(0, true);
    if (size > FRAME_BYTES_MAX)
      throw new Error(`A frame claims ${size} bytes; the most is ${FRAME_BYTES_MAX}.`);
    return this.#pendingBytes >= 4 + size ? size : undefined;
  }

  #join(): Uint8Array {
    const only = this.#pending[0];
    if (this.#pending.length === 1 && only) return only;
    const whole = new Uint8Array(this.#pendingBytes);
    let at = 0;
    for (const part of this.#pending) {
      whole.set(part, at);
      at += part.byteLength;
    }
    this.#pending = [whole];
    return whole;
  }
}

/** One buffer of many frames, so that a tick costs one write. */
export function encodeFrames(messages: readonly (ToSidecar | FromSidecar)[]): Uint8Array {
  const encoder = new TextEncoder();
  const bodies = messages.map((message) => encoder.encode(JSON.stringify(message)));
  const out = new Uint8Array(bodies.reduce((sum, body) => sum + 4 + body.byteLength, 0));
  const view = new DataView(out.buffer);
  let at = 0;
  for (const body of bodies) {
    view.setUint32(at, body.byteLength, true);
    out.set(body, at + 4);
    at += 4 + body.byteLength;
  }
  return out;
}
