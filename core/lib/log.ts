// Log: one JSON line per entry on standard error, or a readable line on a terminal. It never contains secrets or bodies. Repeated
// errors (such as a full disk) are written at first and then counted.
import { printable, printableJson } from './printable.ts';
import { createRepeats } from './repeats.ts';

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
