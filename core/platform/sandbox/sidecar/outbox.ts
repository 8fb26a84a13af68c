// Sends messages to the core, and validates the outbox of a guest before it is sent.
import net from 'node:net';
import { resultUnitsMax } from '../../../../sdk/plugin/handlers.ts';
import { createFrameReader, createFrameWriter, frameBytesMax, readOrders, type Frame } from '../framing.ts';
import {
  headUnitsMax,
  kvTextMax,
  logTextMax,
  msMax,
  readProgress,
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
export function openWire(receive: (message: ToSidecar) => void, onFrameEnd: () => void): Send {
  const bounds = { frameBytes: frameBytesMax, headBytes: frameBytesMax };
  const frames = createFrameReader(() => bounds);
  const take = (frame: Frame): void => {
    readOrders(frame, receive);
    onFrameEnd();
  };
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

  const outgoing = createFrameWriter();
  const flush = (): void => void socket.write(outgoing.take());
  return (message) => {
    if (outgoing.units === 0) setImmediate(flush);
    outgoing.add(message);
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

/**
 * Returns the output in parts that each fit into one frame. Passes a short one on unread: the core reads it, and ends the run if a
 * plugin has tampered with the guest program that writes it.
 * @throws Error if the outbox is invalid
 */
export function readOutbox({ heads, texts }: GuestOutbox): readonly GuestOutput[] {
  if (!isText(heads, headUnitsMax) || !isText(texts, textUnitsMax)) throw new Error('The outbox is invalid.');
  if (heads === '' && texts === '') return [];
  return texts.length <= kvTextMax ? [{ heads, texts }] : inParts(heads, texts);
}

function isText(value: unknown, most: number): boolean {
  return typeof value === 'string' && value.length <= most;
}

/** Splits the output, because the core accepts no frame larger than the largest call. @throws Error if the outbox is invalid */
function inParts(list: string, texts: string): GuestOutput[] {
  const parts: GuestOutput[] = [];
  let heads: string[] = [];
  let from = 0;
  let to = 0;
  const cut = (): void => {
    if (heads.length > 0) parts.push({ heads: heads.join(), texts: texts.slice(from, to) });
    heads = [];
    from = to;
  };
  for (const head of JSON.parse(`[${list}]`) as unknown[][]) {
    const units = Number(head.at(-1));
    if (!(units >= 0 && units <= kvTextMax)) throw new Error('The outbox has an invalid length.');
    if (to + units - from > kvTextMax) cut();
    heads.push(JSON.stringify(head));
    to += units;
  }
  cut();
  if (to !== texts.length) throw new Error('The outbox does not have the length of its texts.');
  return parts;
}

/** Returns the log lines of the recorder, the only output of an entry that was ended from outside; undefined if invalid or empty. */
export function readRecorded(text: string): GuestOutput | undefined {
  try {
    const lines = JSON.parse(`[${text}]`) as unknown[][];
    let texts = '';
    const heads = lines.map(([level, line]) => {
      if (!logLevels.includes(level) || !isText(line, logTextMax))
        throw new Error('The recorder has an invalid log line.');
      texts += line as string;
      return JSON.stringify(['l', level, (line as string).length]);
    });
    return heads.length === 0 ? undefined : { heads: heads.join(), texts };
  } catch {
    return undefined;
  }
}

const plainEnd = '["done"]';
const succeeded: RunEnd = { status: 'succeeded' };

/** Reads `end` or `after` of an outbox; undefined if it is empty. @throws Error if it is invalid */
export function readEnd(end: string): RunEnd | undefined {
  if (end === '') return undefined;
  if (end === plainEnd) return succeeded;
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
