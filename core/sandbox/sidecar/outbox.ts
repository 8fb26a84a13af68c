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

export type Drained = Extract<FromSidecar, { t: 'drained' }>;

const logLevels: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[];
const guestReasons: readonly unknown[] = [
  'error',
  'retry_later',
  'drop',
  'call_budget',
] satisfies EndReason[];

/** Reads the outbox into `into`; entries after the end of the run are dropped. @throws Error on anything unknown */
export function readOutbox(text: string, into: Drained): RunEnd | undefined {
  let logUnitsLeft = logTextMax;
  for (const [kind, first, second, third] of JSON.parse(text) as unknown[][]) {
    if (kind === 'd') return success(first);
    if (kind === 'x') return failure(first, second, third);
    if (kind === 'c') into.calls.push(callOf(first, second, third, into.calls.length));
    else if (kind === 'l') {
      const [level, line] = logOf(first, second);
      into.logs.push([level, line.slice(0, logUnitsLeft)]);
      logUnitsLeft = Math.max(0, logUnitsLeft - line.length);
    } else throw new Error('unknown entry');
  }
  return undefined;
}

function callOf(call: unknown, op: unknown, args: unknown, before: number): Drained['calls'][number] {
  const isNumbered = typeof call === 'number' && Number.isSafeInteger(call) && before < callsPerFrameMax;
  if (!isNumbered || typeof op !== 'string' || op.length > opMax) throw new Error('unknown call');
  if (typeof args !== 'string' || args.length > textMaxOf(op)) throw new Error('unknown arguments');
  return [call, op, args];
}

function logOf(level: unknown, line: unknown): Drained['logs'][number] {
  if (!logLevels.includes(level) || typeof line !== 'string') throw new Error('unknown line');
  return [level as LogLevel, line];
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
