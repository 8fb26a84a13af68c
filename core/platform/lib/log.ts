// Log: one JSON line per entry on standard error, or a readable line on a terminal. It never contains secrets or bodies. Repeated
// errors (such as a full disk) are written at first and then counted.
import { printable, printableJson } from './text/printable.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface Log {
  (level: LogLevel, message: string, fields?: object): void;
}

export interface LogOptions {
  write(line: string): void;
  nowMs(): number;
  /** Calls `run` once after the delay. */
  after(delayMs: number, run: () => void): void;
  pretty: boolean;
  level: LogLevel;
}

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

// Deduplicates log entries with the same message and error: the first few are written, the others counted and summarized, so that a
// fault in every request neither fills the disk nor hides other entries.

/** Number of entries written individually within the time window. */
const writtenMax = 3;
const countedMs = 60_000;
/** Maximum number of request ids in a summary, by which an operator finds the failed request of a client. */
const requestIdsMax = 50;
/** Maximum number of distinct entries counted at a time; entries beyond it are written. */
const countedMax = 200;

interface Repeated {
  times: number;
  requestIds: string[];
}

interface Repeats {
  /** Returns true if an entry is counted and must not be written now. */
  hold(level: LogLevel, message: string, fields: object): boolean;
}

function createRepeats(after: (delayMs: number, run: () => void) => void, write: Log): Repeats {
  const counted = new Map<string, Repeated>();
  return {
    hold(level, message, fields) {
      const { error, requestId }: { error?: unknown; requestId?: unknown } = fields;
      // Entries without an error differ in their fields, so each is written.
      if (typeof error !== 'string') return false;
      const what = error.split('\n', 1)[0] ?? '';
      const key = `${level} ${message} ${what}`;
      let repeated = counted.get(key);
      if (!repeated) {
        if (counted.size >= countedMax) return false;
        repeated = { times: 0, requestIds: [] };
        counted.set(key, repeated);
        const { requestIds } = repeated;
        after(countedMs, () => {
          const times = (counted.get(key)?.times ?? 0) - writtenMax;
          counted.delete(key);
          if (times <= 0) return;
          write(level, message, {
            error: what,
            repeated: times,
            ...(requestIds.length > 0 ? { requestIds } : {}),
          });
        });
      }
      repeated.times++;
      if (repeated.times <= writtenMax) return false;
      if (typeof requestId === 'string' && repeated.requestIds.length < requestIdsMax)
        repeated.requestIds.push(requestId);
      return true;
    },
  };
}

export function createLog(options: LogOptions): Log {
  const least = order.indexOf(options.level);
  const write: Log = (level, message, fields = {}) => {
    const time = new Date(options.nowMs()).toISOString();
    const line = options.pretty
      ? `${time.slice(11, 19)} ${level.padEnd(5)} ${message} ${Object.entries(fields)
          .map(([k, v]) => `${k}=${typeof v === 'string' ? v : JSON.stringify(v)}`)
          .join(' ')}`.trimEnd()
      : printableJson({ time, level, msg: message, ...fields });
    options.write(`${printable(line)}\n`);
  };
  const repeats = createRepeats(options.after, write);
  return (level, message, fields = {}) => {
    if (order.indexOf(level) < least) return;
    if (!repeats.hold(level, message, fields)) write(level, message, fields);
  };
}
