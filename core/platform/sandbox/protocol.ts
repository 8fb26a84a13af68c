// Messages between the core and the sidecar over the inherited descriptor 3; `framing.ts` encodes them. The
// core validates every message: see `frames.ts` and `run/`.

/** Maximum UTF-16 units of the arguments or the result of a call, except KV values (2 MiB) and fetches. */
const textMax = 256 * 1024;
export const kvTextMax = 2_200_000;
/** Covers three descriptions of 64 KiB as JSON: of an event, of its `previous`, and of its issue. */
export const inputMax = 320 * 1024;
export const codeMax = 4 * 1024 * 1024;
export const manifestMax = 256 * 1024;
/** Maximum number of characters of one log line. */
export const logTextMax = 64 * 1024;
/** Maximum number of characters of an error message or a stack. */
export const messageMax = 4000;
export const opMax = 60;
/** Maximum length of the heads of a guest's output. */
export const headUnitsMax = 20_000;
/** Maximum number of host calls and timers that a handler may start between two answers. */
export const callsPerFrameMax = 1000;
/** Highest number of a call; the calls of a run are numbered from 1. */
export const callMax = 2 ** 31;
/** One day; a sanity bound far above every real duration. */
export const msMax = 86_400_000;

export function textMaxOf(op: string): number {
  if (op === 'sleep') return opMax;
  const isLong = op === 'kv.get' || op === 'kv.set' || op === 'kv.compareAndSet' || op === 'net.fetch';
  return isLong ? kvTextMax : textMax;
}

export interface RunLimits {
  /** CPU time of the whole run. */
  cpuMs: number;
  /** CPU time of one uninterrupted stretch of guest code. */
  entryMs: number;
  /** Time in which the run waits only for itself: timers, promises that never settle. */
  wallMs: number;
  memoryMb: number;
  calls: number;
  concurrentCalls: number;
  logBytes: number;
  logLines: number;
  /** CPU time of evaluating the module and of registering its handlers, each. */
  startupMs: number;
}

export type GuestLogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Name of a run on the wire: 128 random bits that a sidecar receives with the run, so that it cannot name a run of another sidecar. */
export type RunNonce = string;

/** The parts of the jail that its entry applied; `landlock` is the ABI version, 0 if the kernel has none. */
export interface EntryReport {
  landlock: number;
  seccomp: boolean;
  rlimits: boolean;
}

/**
 * Answer to a call of the guest: `value` is JSON text, an error is a code and a message. `elapsedMs` is the age of the run on the
 * guest's clock from now on. `more`: deliver this answer together with the next one.
 */
export type CallReply = { run: RunNonce; call: number; elapsedMs: number; more?: true } & (
  { t: 'answer'; value: string } | { t: 'refuse'; code: string; message: string }
);

export type ToSidecar =
  /** First message; `guest` is the program that every isolate evaluates before its plugin. */
  | { t: 'init'; guest: string; isolatesMax: number; idleMs: number; inlineAfter: number }
  /** A plugin's bundle; sent once per sidecar, and again after `forget`. */
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
      /** True if the guest may be entered on the sidecar's main thread. */
      mayBlock: boolean;
    }
  | CallReply
  | { t: 'stop'; run: RunNonce }
  /** Ends a run as it last reported with `open`. */
  | { t: 'close'; run: RunNonce }
  /** Drops idle isolates whose name begins with `prefix`. */
  | { t: 'evict'; prefix: string }
  /** Drops bundles. */
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

/** Progress of a schedule; a schedule with `done` < `of` runs again at once. */
export interface GuestProgress {
  done: number;
  of: number;
  /** Unit of the count, such as "teams". */
  unit?: string;
}

/** Returns a copy of a valid progress; undefined for any other value. */
export function readProgress(value: unknown): GuestProgress | undefined {
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
  /** `result`: JSON text, for handlers whose caller waits for a result. */
  | { status: 'succeeded'; progress?: GuestProgress; result?: string }
  /** `killed`: the isolate died because of this run. `stack`: V8 stack of the thrown error. */
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
 * Calls and log lines of a guest: `heads` are comma-separated JSON lists, `["c", call, op, length]` and `["l", level, length]`; `texts`
 * are the concatenated arguments and log lines of these lengths. Both pass from the guest to the core unchanged.
 */
export interface GuestOutput {
  readonly heads: string;
  readonly texts: string;
}

export type FromSidecar =
  | { t: 'ready'; jail: EntryReport }
  | { t: 'pong'; isolates: number }
  /**
   * Sent after an entry. `acked` counts the core's messages (run and answers) that this run has consumed: more sent than acked means
   * guest code may be running.
   */
  | { t: 'drained'; run: RunNonce; acked: number; said: GuestOutput }
  /**
   * `acked` as in `drained`; the run never received later messages. `open`: the handler has ended, but not all of its calls. The run ends
   * like this with `close`; if a call is refused, the answers follow instead, and another end.
   */
  | {
      t: 'end';
      run: RunNonce;
      end: RunEnd;
      open?: true;
      acked: number;
      cpuMs: number;
      memoryBytes: number;
      isolates: number;
    }
  | { t: 'described'; run: RunNonce; manifest: string }
  /** A thread of this process cannot be stopped any more, so the process must be killed. `run` names the culprit. */
  | { t: 'tainted'; run: RunNonce; reason: 'cpu' | 'memory'; message: string; cpuMs: number };
