// Sends messages to the core, and validates the outbox of a guest before it is sent.
import net from 'node:net';
import { resultUnitsMax } from '../../../../sdk/plugin/handlers.ts';
import { createFrameReader, encodeFrames, frameBytesMax, readOrder, type Frame } from '../framing.ts';
import {
  callMax,
  callsPerFrameMax,
  kvTextMax,
  logTextMax,
  msMax,
  opMax,
  readProgress,
  textMaxOf,
  type EndReason,
  type FromSidecar,
  type GuestLogLevel,
  type GuestOutput,
  type RunEnd,
  type ToSidecar,
} from '../protocol.ts';
import type { GuestOutbox } from './guest/bridge.ts';

const readBytes = 64 * 1024;

export type Send = (message: FromSidecar) => void;

/**
 * Opens the sidecar's end of descriptor 3. Messages of one tick leave in one write; the process dies when the
 * core closes the socket.
 */
export function openWire(receive: (message: ToSidecar) => void): Send {
  const bounds = { frameBytes: frameBytesMax, headBytes: frameBytesMax };
  const frames = createFrameReader(() => bounds);
  const take = (frame: Frame): void => receive(readOrder(frame));
  const socket = new net.Socket({
    fd: 3,
    // Reads into one reused buffer, which avoids the cost of streams.
    onread: {
      buffer: Buffer.alloc(readBytes),
      callback(bytes, buffer) {
        frames.push(buffer.subarray(0, bytes), take);
        return true;
      },
    },
  });
  // process.exit() waits for isolate threads, which may never stop. The first process of a PID namespace ignores its own SIGKILL, so
  // abort follows.
  const die = (): void => {
    process.kill(process.pid, 'SIGKILL');
    process.abort();
  };
  socket.on('close', die);
  socket.on('error', die);

  let outgoing: FromSidecar[] = [];
  const flush = (): void => {
    const messages = outgoing;
    outgoing = [];
    socket.write(encodeFrames(messages));
  };
  return (message) => {
    if (outgoing.push(message) === 1) setImmediate(flush);
  };
}

const logLevels: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies GuestLogLevel[];
const guestReasons: readonly unknown[] = [
  'error',
  'retry_later',
  'drop',
  'invalid_result',
  'call_budget',
] satisfies EndReason[];

/** The guest program enforces lower caps, so a larger outbox means tampering. */
const textUnitsMax = 14_000_000;
const headUnitsMax = 20_000;

/**
 * Validates an outbox, because a plugin may have tampered with the guest program that writes it.
 * @returns the output in parts that each fit into one frame
 * @throws Error if the outbox is invalid
 */
export function readOutbox({ heads, texts }: GuestOutbox): readonly GuestOutput[] {
  if (heads === '') return [];
  if (!isText(heads, headUnitsMax) || !isText(texts, textUnitsMax)) throw new Error('The outbox is invalid.');
  const list = JSON.parse(`[${heads}]`) as unknown[][];
  if (list.length > callsPerFrameMax) throw new Error('The outbox has too many entries.');
  let units = 0;
  for (let i = 0; i < list.length; i++) units += unitsOfEntry(list[i]!);
  if (units !== texts.length) throw new Error('The outbox does not have the length of its texts.');
  return list.length < 2 || units <= kvTextMax ? [{ heads, texts }] : inParts(list, texts);
}

function isText(value: unknown, most: number): boolean {
  return typeof value === 'string' && value.length <= most;
}

function unitsOfEntry(head: unknown[]): number {
  if (head[0] === 'c' && head.length === 4) return callUnits(head);
  if (head[0] === 'l' && head.length === 3) return lineUnits(head);
  throw new Error('The outbox has an unknown entry.');
}

function callUnits([, call, op, units]: unknown[]): number {
  if (!Number.isInteger(call) || Number(call) < 1 || Number(call) > callMax)
    throw new Error('The outbox has an invalid call number.');
  if (typeof op !== 'string' || op.length > opMax) throw new Error('The outbox has an invalid operation.');
  return unitsOf(units, textMaxOf(op));
}

function lineUnits([, level, units]: unknown[]): number {
  if (!logLevels.includes(level)) throw new Error('The outbox has an invalid log line.');
  return unitsOf(units, logTextMax);
}

function unitsOf(units: unknown, most: number): number {
  if (typeof units !== 'number' || !Number.isInteger(units) || units < 0 || units > most)
    throw new Error('The outbox has an invalid length.');
  return units;
}

/** Splits the output, because the core accepts no frame larger than the largest call. */
function inParts(list: readonly unknown[][], texts: string): GuestOutput[] {
  const parts: GuestOutput[] = [];
  let heads: string[] = [];
  let from = 0;
  let to = 0;
  const cut = (): void => {
    if (heads.length > 0) parts.push({ heads: heads.join(), texts: texts.slice(from, to) });
    heads = [];
    from = to;
  };
  for (const head of list) {
    const units = Number(head.at(-1));
    if (to + units - from > kvTextMax) cut();
    heads.push(JSON.stringify(head));
    to += units;
  }
  cut();
  return parts;
}

/** Returns the log lines of the recorder, the only output of an entry that was ended from outside; undefined if invalid or empty. */
export function readRecorded(text: string): GuestOutput | undefined {
  try {
    const lines = JSON.parse(`[${text}]`) as unknown[][];
    let texts = '';
    const heads = lines.map(([level, line]) => {
      if (typeof line !== 'string') throw new Error('The outbox has an invalid log line.');
      const head = ['l', level, line.length];
      lineUnits(head);
      texts += line;
      return JSON.stringify(head);
    });
    return heads.length === 0 ? undefined : { heads: heads.join(), texts };
  } catch {
    return undefined;
  }
}

/** Returns the end of the run; undefined if the run continues. @throws Error if the outbox is invalid */
export function readEnd({ end }: GuestOutbox): RunEnd | undefined {
  if (end === '') return undefined;
  const [reason, first, afterMs, stack] = JSON.parse(end) as unknown[];
  // For reason `done`, the third element is the result.
  return reason === 'done' ? success(first, afterMs) : failure(reason, first, { afterMs, stack });
}

function success(rawProgress: unknown, result: unknown): RunEnd {
  if (result !== undefined) {
    if (!isText(result, resultUnitsMax)) throw new Error('The result is invalid.');
    return { status: 'succeeded', result: result as string };
  }
  if (rawProgress === undefined) return { status: 'succeeded' };
  const progress = readProgress(rawProgress);
  if (!progress) throw new Error('The progress is invalid.');
  return { status: 'succeeded', progress };
}

function failure(
  reason: unknown,
  message: unknown,
  { afterMs, stack }: { afterMs: unknown; stack: unknown },
): RunEnd {
  if (!guestReasons.includes(reason) || typeof message !== 'string')
    throw new Error('The failure is invalid.');
  const end = {
    ...({ status: 'failed', reason: reason as EndReason, message, killed: false } as const),
    ...(typeof stack === 'string' && stack !== '' ? { stack } : {}),
  };
  if (typeof afterMs !== 'number' || reason !== 'retry_later') return end;
  return { ...end, retryAfterMs: Math.min(Math.max(0, afterMs), msMax) };
}
