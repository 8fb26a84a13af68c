// What a guest wrote into its outbox, brought into the shape that the core takes. The guest program writes it, but a plugin may have
// broken that.
import {
  callsPerFrameMax,
  kvTextMax,
  logTextMax,
  msMax,
  opMax,
  readProgress,
  textMaxOf,
} from '../protocol.ts';
import type { EndReason, FromSidecar, LogLevel, RunEnd } from '../protocol.ts';
import type { Outbox } from './guest/bridge.ts';

export type Drained = Extract<FromSidecar, { t: 'drained' }>;

const logLevels: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[];
const guestReasons: readonly unknown[] = [
  'error',
  'retry_later',
  'drop',
  'call_budget',
] satisfies EndReason[];

/** Reads the outbox into `into`; what comes after the end of the run is dropped. @throws Error on anything unknown */
export function readOutbox({ heads, texts }: Outbox, into: Drained): RunEnd | undefined {
  let at = 0;
  let logUnitsLeft = logTextMax;
  const textOf = (length: unknown): string => {
    if (!Number.isInteger(length) || !(Number(length) >= 0 && at + Number(length) <= texts.length))
      throw new Error('unknown length');
    return texts.slice(at, (at += Number(length)));
  };
  for (const [kind, first, second, third] of JSON.parse(`[${heads}]`) as unknown[][]) {
    if (kind === 'd') return success(first);
    if (kind === 'x') return failure(first, second, third);
    if (kind === 'c') into.calls.push(callOf(first, second, textOf(third), into.calls.length));
    else if (kind === 'l') {
      const line = textOf(second).slice(0, logUnitsLeft);
      into.logs.push([levelOf(first), line]);
      logUnitsLeft -= line.length;
    } else throw new Error('unknown entry');
  }
  return undefined;
}

function callOf(call: unknown, op: unknown, args: string, before: number): Drained['calls'][number] {
  const isNumbered = typeof call === 'number' && Number.isSafeInteger(call) && before < callsPerFrameMax;
  if (!isNumbered || typeof op !== 'string' || op.length > opMax) throw new Error('unknown call');
  if (args.length > textMaxOf(op)) throw new Error('unknown arguments');
  return [call, op, args];
}

function levelOf(level: unknown): LogLevel {
  if (!logLevels.includes(level)) throw new Error('unknown line');
  return level as LogLevel;
}

/** The log lines of the recorder, which are all that is left of an entry that was ended from outside. */
export function readRecorded(text: string): Drained['logs'] {
  const lines = JSON.parse(`[${text}]`) as unknown[][];
  return lines.map(([level, line]) => {
    if (typeof line !== 'string') throw new Error('unknown line');
    return [levelOf(level), line];
  });
}

function success(given: unknown): RunEnd {
  if (given === undefined) return { status: 'succeeded' };
  const progress = readProgress(given);
  if (!progress) throw new Error('unknown progress');
  return { status: 'succeeded', progress };
}

function failure(reason: unknown, message: unknown, afterMs: unknown): RunEnd {
  if (!guestReasons.includes(reason) || typeof message !== 'string') throw new Error('unknown failure');
  const end = { status: 'failed', reason: reason as EndReason, message, killed: false } as const;
  if (typeof afterMs !== 'number' || reason !== 'retry_later') return end;
  return { ...end, retryAfterMs: Math.min(Math.max(0, afterMs), msMax) };
}

/** The core takes no frame larger than the largest call; all but the last part acknowledge nothing new. */
export function inParts(message: Drained, ackedBefore: number): Drained[] {
  if (message.calls.length < 2) return [message];
  const parts: Drained[] = [];
  let part: Drained = { ...message, calls: [], logs: message.logs };
  let units = 0;
  for (const call of message.calls) {
    units += call[2].length;
    if (units > kvTextMax && part.calls.length > 0) {
      parts.push({ ...part, acked: ackedBefore });
      part = { ...message, calls: [], logs: [] };
      units = call[2].length;
    }
    part.calls.push(call);
  }
  return [...parts, part];
}
