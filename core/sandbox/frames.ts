/**
 * What a sidecar says, believed in nothing: every frame is taken apart field by field, and what is no message of the protocol is a
 * breach, for which the process is killed. An honest sidecar passes on what plugins say only after it has brought it into this shape.
 */
import { randomBytes } from 'node:crypto';
import {
  CALLS_PER_FRAME_MAX,
  KV_TEXT_MAX,
  LOG_TEXT_MAX,
  MANIFEST_MAX,
  MESSAGE_MAX,
  MS_MAX,
  OP_MAX,
  readProgress,
  textMaxOf,
} from './protocol.ts';
import type {
  EndReason,
  EntryReport,
  FromSidecar,
  LogLevel,
  Progress,
  RunEnd,
  RunNonce,
} from './protocol.ts';
import { plainText } from '../lib/printable.ts';
import type { Frame, FrameBounds } from './framing.ts';

/** The sidecar said something that an honest one never says. */
export class ProtocolBreach extends Error {}

const HEAD_BYTES_MAX = 64 * 1024;
/** UTF-8 needs at most this much for a UTF-16 unit. */
const BYTES_PER_UNIT = 3;

/** Of a process that has nothing to do, and of one that may be passing on the largest call there is. */
export const IDLE_BOUNDS: FrameBounds = { frameBytes: 16 * 1024, headBytes: 16 * 1024 };
export const BUSY_BOUNDS: FrameBounds = {
  frameBytes: (KV_TEXT_MAX + LOG_TEXT_MAX) * BYTES_PER_UNIT + HEAD_BYTES_MAX,
  headBytes: HEAD_BYTES_MAX,
};

const LOGS_PER_FRAME_MAX = 1000;
const COUNT_MAX = 2 ** 31;
const BYTES_MAX = 2 ** 40;

const NONCE = /^[\w-]{22}$/;

const NONCE_BYTES = 16;
const NONCES_DRAWN = 256;

/** Makes names of runs, unguessable: the first frame that names a run which its sidecar was not given is that sidecar's last. */
export function nonceSource(): () => RunNonce {
  let drawn = Buffer.alloc(0);
  return () => {
    if (drawn.byteLength === 0) drawn = randomBytes(NONCES_DRAWN * NONCE_BYTES);
    const one = drawn.toString('base64url', 0, NONCE_BYTES);
    drawn = drawn.subarray(NONCE_BYTES);
    return one;
  };
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const REASONS: readonly EndReason[] = [
  'error',
  'retry_later',
  'drop',
  'cpu',
  'memory',
  'call_budget',
  'startup',
  'rejection',
  'protocol',
];

type Fields = Readonly<Record<string, unknown>>;
type Drained = Extract<FromSidecar, { t: 'drained' }>;

/** @throws ProtocolBreach */
export function readFrame({ head, tail }: Frame): FromSidecar {
  const fields = fieldsOf(parse(head), 'A frame');
  switch (fields['t']) {
    case 'drained':
      return readDrained(fields, tail);
    case 'end':
      return {
        t: 'end',
        run: nonce(fields),
        end: readEnd(fieldsOf(fields['end'], 'An end')),
        cpuMs: number(fields, 'cpuMs', MS_MAX),
        memoryBytes: number(fields, 'memoryBytes', BYTES_MAX),
        isolates: integer(fields, 'isolates', COUNT_MAX),
      };
    case 'pong':
      return { t: 'pong', isolates: integer(fields, 'isolates', COUNT_MAX) };
    case 'tainted':
      return {
        t: 'tainted',
        run: nonce(fields),
        reason: oneOf(fields['reason'], ['cpu', 'memory'], 'reason'),
        message: plainText(text(fields, 'message', MESSAGE_MAX)),
        cpuMs: number(fields, 'cpuMs', MS_MAX),
      };
    case 'ready':
      return { t: 'ready', jail: readReport(fieldsOf(fields['jail'], 'A report')) };
    case 'described':
      if (tail.length > MANIFEST_MAX) throw new ProtocolBreach('A manifest is too long.');
      return { t: 'described', run: nonce(fields), manifest: tail };
    default:
      throw new ProtocolBreach('A frame is of no known type.');
  }
}

function readDrained(fields: Fields, tail: string): Drained {
  const run = nonce(fields);
  const acked = integer(fields, 'acked', COUNT_MAX);
  let at = 0;
  const next = (length: unknown, most: number): string => {
    if (typeof length !== 'number' || !Number.isInteger(length) || length < 0 || length > most)
      throw new ProtocolBreach('A text is too long.');
    return tail.slice(at, (at += length));
  };
  const calls = list(fields['calls'], 3, CALLS_PER_FRAME_MAX).map(
    ([call, op, length]): Drained['calls'][number] => {
      if (typeof call !== 'number' || !Number.isInteger(call) || call < 1 || call > COUNT_MAX)
        throw new ProtocolBreach('A call has no number.');
      if (typeof op !== 'string' || op.length > OP_MAX) throw new ProtocolBreach('A call has no operation.');
      return [call, op, next(length, op === 'sleep' ? OP_MAX : textMaxOf(op))];
    },
  );
  const logs = list(fields['logs'], 2, LOGS_PER_FRAME_MAX).map(([level, length]): Drained['logs'][number] => [
    oneOf(level, LEVELS, 'level'),
    next(length, LOG_TEXT_MAX),
  ]);
  if (at !== tail.length) throw new ProtocolBreach('A frame is not as long as its texts.');
  return { t: 'drained', run, acked, calls, logs };
}

function readEnd(fields: Fields): RunEnd {
  const { status } = fields;
  if (status === 'stopped') return { status };
  if (status === 'succeeded') return { status, ...readProgressOf(fields) };
  const message = plainText(text(fields, 'message', MESSAGE_MAX));
  if (status !== 'failed') throw new ProtocolBreach('An end has no known status.');
  const { killed } = fields;
  if (typeof killed !== 'boolean') throw new ProtocolBreach('An end does not say whether it killed.');
  const reason = oneOf(fields['reason'], REASONS, 'reason');
  if (fields['retryAfterMs'] === undefined) return { status, reason, message, killed };
  return { status, reason, message, killed, retryAfterMs: number(fields, 'retryAfterMs', MS_MAX) };
}

function readProgressOf({ progress }: Fields): { progress?: Progress } {
  if (progress === undefined) return {};
  const read = readProgress(progress);
  if (!read) throw new ProtocolBreach('A progress is none.');
  return { progress: read };
}

function readReport(fields: Fields): EntryReport {
  const { seccomp, rlimits } = fields;
  if (typeof seccomp !== 'boolean' || typeof rlimits !== 'boolean')
    throw new ProtocolBreach('A report of the jail is not complete.');
  return { landlock: integer(fields, 'landlock', COUNT_MAX), seccomp, rlimits };
}

function parse(head: string): unknown {
  try {
    return JSON.parse(head);
  } catch {
    throw new ProtocolBreach('A frame is no JSON.');
  }
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ProtocolBreach(`${what} is no object.`);
  return value as Fields;
}

/** Rows of a fixed width. */
function list(value: unknown, width: number, most: number): unknown[][] {
  if (!Array.isArray(value) || value.length > most) throw new ProtocolBreach('A list is too long, or none.');
  for (const row of value as unknown[])
    if (!Array.isArray(row) || row.length !== width) throw new ProtocolBreach('A list has an odd row.');
  return value as unknown[][];
}

function nonce(fields: Fields): RunNonce {
  const { run } = fields;
  if (typeof run !== 'string' || !NONCE.test(run)) throw new ProtocolBreach('A frame names no run.');
  return run;
}

function text(fields: Fields, key: string, most: number): string {
  const value = fields[key];
  if (typeof value !== 'string' || value.length > most)
    throw new ProtocolBreach(`${key} is no text, or too long.`);
  return value;
}

function number(fields: Fields, key: string, most: number): number {
  const value = fields[key];
  if (typeof value !== 'number' || !(value >= 0 && value <= most))
    throw new ProtocolBreach(`${key} is no number, or out of range.`);
  return value;
}

function integer(fields: Fields, key: string, most: number): number {
  const value = number(fields, key, most);
  if (!Number.isInteger(value)) throw new ProtocolBreach(`${key} is no whole number.`);
  return value;
}

function oneOf<T extends string>(value: unknown, known: readonly T[], what: string): T {
  const found = known.find((one) => one === value);
  if (found === undefined) throw new ProtocolBreach(`A ${what} is unknown.`);
  return found;
}
