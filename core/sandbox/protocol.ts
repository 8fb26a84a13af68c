// What the core and the sidecar say to each other over the inherited descriptor 3; `framing.ts` has the bytes. Both
// ends import these two files and nothing else of each other. The core believes none of it: see `frames.ts` and
// `run/`.

/** Guest argument and result text, in UTF-16 units: a KV value may be 2 MiB, everything else is small. */
const textMax = 256 * 1024;
export const kvTextMax = 2_200_000;
export const inputMax = 160 * 1024;
export const codeMax = 4 * 1024 * 1024;
export const manifestMax = 256 * 1024;
/** One line of a log, and what a run that failed says of it; its stack may be as long. */
export const logTextMax = 64 * 1024;
export const messageMax = 4000;
export const opMax = 60;
/** A handler may have this many host calls and timers written between two answers. */
export const callsPerFrameMax = 1000;
/** Calls of a run are numbered from 1. */
export const callMax = 2 ** 31;
/** A day; every other bound of time is far below. */
export const msMax = 86_400_000;

export function textMaxOf(op: string): number {
  if (op === 'sleep') return opMax;
  const isLong = op === 'kv.get' || op === 'kv.set' || op === 'kv.compareAndSet' || op === 'net.fetch';
  return isLong ? kvTextMax : textMax;
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

/**
 * A run as both ends name it: 128 random bits that a sidecar learns with the order of that run, so that it cannot speak for one that
 * it was not given.
 */
export type RunNonce = string;

/** What the jail's entry put in place; `landlock` is the ABI version, 0 when the kernel has none. */
export interface EntryReport {
  landlock: number;
  seccomp: boolean;
  rlimits: boolean;
}

/**
 * What a call of the guest is told: `value` is JSON text, an error travels as code and message. `elapsedMs` is the run's age on the
 * guest's clock from now on. `more`: the guest is given this together with the one that follows.
 */
export type Told = { run: RunNonce; call: number; elapsedMs: number; more?: true } & (
  { t: 'answer'; value: string } | { t: 'refuse'; code: string; message: string }
);

export type ToSidecar =
  /** First message: the guest program that every isolate gets before its plugin. */
  | { t: 'init'; guest: string; isolatesMax: number; idleMs: number }
  /** A plugin's bundle, once per sidecar unless forgotten. */
  | { t: 'code'; sha256: string; source: string }
  | {
      t: 'run';
      run: RunNonce;
      isolate: string;
      sha256: string;
      /** Names such as `event:issue.created` that the module must register, sorted; null skips the comparison. */
      handlers: string[] | null;
      handler: string;
      input: string;
      limits: RunLimits;
      fresh: boolean;
    }
  | Told
  | { t: 'stop'; run: RunNonce }
  /** Drops idle isolates whose name begins with `prefix`. */
  | { t: 'evict'; prefix: string }
  /** Drops bundles; those that are needed again are sent again. */
  | { t: 'forget'; codes: string[] }
  /** Loads a module in a new isolate and reports its definition. */
  | { t: 'describe'; run: RunNonce; source: string; limits: RunLimits }
  | { t: 'ping' };

export type EndReason =
  | 'error'
  | 'retry_later'
  | 'drop'
  | 'invalid_result'
  | 'cpu'
  | 'memory'
  | 'call_budget'
  | 'startup'
  | 'rejection'
  | 'protocol';

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
  /** `result`: JSON text, of handlers whose caller waits for one. */
  | { status: 'succeeded'; progress?: Progress; result?: string }
  /** `killed`: the isolate died of it. `stack`: as V8 writes it, where something was thrown. */
  | {
      status: 'failed';
      reason: EndReason;
      message: string;
      retryAfterMs?: number;
      killed: boolean;
      stack?: string;
    }
  | { status: 'stopped' };

/**
 * What a guest says: `heads` are JSON lists with commas between them, `["c", call, op, length]` and `["l", level, length]`, `texts` the
 * arguments and log lines that have these lengths. Both go from the guest to the core as they are.
 */
export interface Said {
  readonly heads: string;
  readonly texts: string;
}

export type FromSidecar =
  | { t: 'ready'; jail: EntryReport }
  | { t: 'pong'; isolates: number }
  /** After an entry. `acked` counts the core's messages (run and answers) this run has consumed: more sent than acked means guest code may be running. */
  | { t: 'drained'; run: RunNonce; acked: number; said: Said }
  /** `acked` as in `drained`: what the run was still sent it never saw. */
  | {
      t: 'end';
      run: RunNonce;
      end: RunEnd;
      acked: number;
      cpuMs: number;
      memoryBytes: number;
      isolates: number;
    }
  | { t: 'described'; run: RunNonce; manifest: string }
  /** A thread of this process can no longer be stopped: kill it. `run` names the culprit. */
  | { t: 'tainted'; run: RunNonce; reason: 'cpu' | 'memory'; message: string; cpuMs: number };
