// The log: one JSON line per entry on standard error, or a readable line on a terminal. Never a secret, never a body.
import { printable, printableJson } from './printable.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface Log {
  (level: LogLevel, message: string, fields?: object): void;
}

export interface LogOptions {
  write(line: string): void;
  nowMs(): number;
  pretty: boolean;
  level: LogLevel;
}

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export function createLog(options: LogOptions): Log {
  const least = order.indexOf(options.level);
  return (level, message, fields = {}) => {
    if (order.indexOf(level) < least) return;
    const time = new Date(options.nowMs()).toISOString();
    const line = options.pretty
      ? `${time.slice(11, 19)} ${level.padEnd(5)} ${message} ${Object.entries(fields)
          .map(([k, v]) => `${k}=${typeof v === 'string' ? v : JSON.stringify(v)}`)
          .join(' ')}`.trimEnd()
      : printableJson({ time, level, msg: message, ...fields });
    options.write(`${printable(line)}\n`);
  };
}
