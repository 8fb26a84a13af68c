// Validates every frame of a sidecar field by field. An invalid frame is a breach, for which the sidecar is killed: a genuine
// sidecar checks the output of plugins before it passes it on, so it never sends one.
import { randomBytes } from 'node:crypto';
import {
  callMax,
  callsPerFrameMax,
  headUnitsMax,
  kvTextMax,
  logTextMax,
  manifestMax,
  messageMax,
  msMax,
  opMax,
  readProgress,
  textMaxOf,
} from './protocol.ts';
import type {
  EndReason,
  EntryReport,
  FromSidecar,
  GuestLogLevel,
  GuestProgress,
  RunEnd,
  RunNonce,
} from './protocol.ts';
import { resultUnitsMax } from '../../../sdk/plugin/handlers.ts';
import { plainText } from '../lib/text/printable.ts';
import { bytesPerUnit, type Frame, type FrameBounds } from './framing.ts';

/** Thrown for a message that a genuine sidecar never sends. */
export class ProtocolBreach extends Error {}

const headBytesMax = 64 * 1024;

/** Bounds for a sidecar without runs, and for one that may be sending the largest possible call. */
export const idleBounds: FrameBounds = { frameBytes: 16 * 1024, headBytes: 16 * 1024 };
export const busyBounds: FrameBounds = {
  frameBytes: (kvTextMax + logTextMax) * bytesPerUnit + headBytesMax,
  headBytes: headBytesMax,
};

const logsPerFrameMax = 1000;
const countMax = 2 ** 31;
const bytesMax = 2 ** 40;

const noncePattern = /^[\w-]{22}$/;

const nonceBytes = 16;
const noncesDrawn = 256;

/** Returns a generator of unguessable names of runs. A sidecar that names a run it was not given is killed. */
export function nonceSource(): () => RunNonce {
  let drawn = Buffer.alloc(0);
  return () => {
    if (drawn.byteLength === 0) drawn = randomBytes(noncesDrawn * nonceBytes);
    const one = drawn.toString('base64url', 0, nonceBytes);
    drawn = drawn.subarray(nonceBytes);
    return one;
  };
}

const logLevels: readonly GuestLogLevel[] = ['debug', 'info', 'warn', 'error'];
const endReasons: readonly EndReason[] = [
  'error',
  'retry_later',
  'drop',
  'invalid_result',
  'cpu',
  'memory',
  'call_budget',
  'startup',
  'rejection',
  'protocol',
];

type Fields = Readonly<Record<string, unknown>>;

/** Calls and log lines of the guest of a run; undefined if the guest program wrote something else, because the plugin changed it. */
export interface GuestSaid {
  calls: [call: number, op: string, args: string][];
  logs: [level: GuestLogLevel, message: string][];
}

/** Output of a guest. The sidecar passes it on unread, so an invalid one is the fault of the run. */
export interface Drained {
  t: 'drained';
  run: RunNonce;
  acked: number;
  said: GuestSaid | undefined;
}

/** A validated message of a sidecar. */
export type SidecarMessage = Exclude<FromSidecar, { t: 'drained' }> | Drained;

/** Returns the messages of a frame. @throws ProtocolBreach */
export function readFrame({ head, tail }: Frame): SidecarMessage[] {
  let at = 0;
  /** Returns the next text of the tail. */
  const next = (units: number): string => {
    if (at + units > tail.length) throw new ProtocolBreach('A text is longer than its frame.');
    return tail.slice(at, (at += units));
  };
  const messages = objectsOf(head).map((object) => readMessage(fieldsOf(object, 'The message'), next));
  if (at !== tail.length) throw new ProtocolBreach('The frame does not have the length of its texts.');
  return messages;
}

type NextText = (units: number) => string;

function readMessage(fields: Fields, next: NextText): SidecarMessage {
  switch (fields['t']) {
    case 'drained':
      return readDrained(fields, next);
    case 'end':
      return {
        t: 'end',
        run: nonce(fields),
        end: readEnd(fieldsOf(fields['end'], '`end`')),
        ...(fields['open'] === true ? { open: true } : {}),
        acked: integer(fields, 'acked', countMax),
        cpuMs: number(fields, 'cpuMs', msMax),
        memoryBytes: number(fields, 'memoryBytes', bytesMax),
        isolates: integer(fields, 'isolates', countMax),
      };
    case 'pong':
      return { t: 'pong', isolates: integer(fields, 'isolates', countMax) };
    case 'tainted':
      return {
        t: 'tainted',
        run: nonce(fields),
        reason: oneOf(fields['reason'], ['cpu', 'memory'], 'reason'),
        message: plainText(text(fields, 'message', messageMax)),
        cpuMs: number(fields, 'cpuMs', msMax),
      };
    case 'ready':
      return { t: 'ready', jail: readReport(fieldsOf(fields['jail'], '`jail`')) };
    case 'described':
      return { t: 'described', run: nonce(fields), manifest: next(integer(fields, 'units', manifestMax)) };
    default:
      throw new ProtocolBreach('The type of the message is unknown.');
  }
}

function readDrained(fields: Fields, next: NextText): Drained {
  const run = nonce(fields);
  const acked = integer(fields, 'acked', countMax);
  const heads = next(integer(fields, 'heads', headUnitsMax));
  return { t: 'drained', run, acked, said: readSaid(heads, next(integer(fields, 'texts', kvTextMax))) };
}

export const nothingSaid: GuestSaid = { calls: [], logs: [] };

/** Reads the output that the guest program wrote; undefined if it is invalid. */
function readSaid(heads: string, texts: string): GuestSaid | undefined {
  if (heads === '') return texts === '' ? nothingSaid : undefined;
  try {
    return saidOf(JSON.parse(`[${heads}]`) as unknown[], texts);
  } catch {
    return undefined;
  }
}

/** @throws Error if the output is invalid */
function saidOf(rows: unknown[], texts: string): GuestSaid {
  let at = 0;
  const next = (units: unknown, most: number): string => {
    if (typeof units !== 'number' || !Number.isInteger(units) || units < 0 || units > most)
      throw new Error('A text has an invalid length.');
    return texts.slice(at, (at += units));
  };
  const said: GuestSaid = { calls: [], logs: [] };
  for (const row of rows) {
    if (!Array.isArray(row)) throw new Error('The output has an invalid row.');
    if (row[0] === 'c' && row.length === 4) said.calls.push(readCall(row, next));
    else if (row[0] === 'l' && row.length === 3)
      said.logs.push([oneOf(row[1], logLevels, 'level'), next(row[2], logTextMax)]);
    else throw new Error('The type of a row is unknown.');
  }
  if (said.calls.length > callsPerFrameMax || said.logs.length > logsPerFrameMax)
    throw new Error('The output has too many rows.');
  if (at !== texts.length) throw new Error('The output does not have the length of its texts.');
  return said;
}

function readCall(
  [, call, op, length]: readonly unknown[],
  next: (length: unknown, most: number) => string,
): GuestSaid['calls'][number] {
  if (typeof call !== 'number' || !Number.isInteger(call) || call < 1 || call > callMax)
    throw new Error('A call has no valid number.');
  if (typeof op !== 'string' || op.length > opMax) throw new Error('A call has no valid operation.');
  return [call, op, next(length, textMaxOf(op))];
}

function readEnd(fields: Fields): RunEnd {
  const { status } = fields;
  if (status === 'stopped') return { status };
  if (status === 'succeeded') return { status, ...readProgressOf(fields), ...readResultOf(fields) };
  const message = plainText(text(fields, 'message', messageMax));
  if (status !== 'failed') throw new ProtocolBreach('The status of an end is unknown.');
  const { killed } = fields;
  if (typeof killed !== 'boolean') throw new ProtocolBreach('`killed` is not a boolean.');
  const reason = oneOf(fields['reason'], endReasons, 'reason');
  return {
    status,
    reason,
    message,
    killed,
    ...(fields['retryAfterMs'] === undefined ? {} : { retryAfterMs: number(fields, 'retryAfterMs', msMax) }),
    ...(fields['stack'] === undefined ? {} : { stack: plainText(text(fields, 'stack', messageMax)) }),
  };
}

function readProgressOf({ progress }: Fields): { progress?: GuestProgress } {
  if (progress === undefined) return {};
  const read = readProgress(progress);
  if (!read) throw new ProtocolBreach('`progress` is invalid.');
  return { progress: read };
}

function readResultOf(fields: Fields): { result?: string } {
  return fields['result'] === undefined ? {} : { result: text(fields, 'result', resultUnitsMax) };
}

function readReport(fields: Fields): EntryReport {
  const { seccomp, rlimits } = fields;
  if (typeof seccomp !== 'boolean' || typeof rlimits !== 'boolean')
    throw new ProtocolBreach('The jail report is incomplete.');
  return { landlock: integer(fields, 'landlock', countMax), seccomp, rlimits };
}

function objectsOf(head: string): unknown[] {
  try {
    return JSON.parse(`[${head}]`) as unknown[];
  } catch {
    throw new ProtocolBreach('The frame is not JSON.');
  }
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ProtocolBreach(`${what} is not an object.`);
  return value as Fields;
}

function nonce(fields: Fields): RunNonce {
  const { run } = fields;
  if (typeof run !== 'string' || !noncePattern.test(run)) throw new ProtocolBreach('The frame names no run.');
  return run;
}

function text(fields: Fields, key: string, most: number): string {
  const value = fields[key];
  if (typeof value !== 'string' || value.length > most)
    throw new ProtocolBreach(`\`${key}\` is not a text or too long.`);
  return value;
}

function number(fields: Fields, key: string, most: number): number {
  const value = fields[key];
  if (typeof value !== 'number' || !(value >= 0 && value <= most))
    throw new ProtocolBreach(`\`${key}\` is not a number or out of range.`);
  return value;
}

function integer(fields: Fields, key: string, most: number): number {
  const value = number(fields, key, most);
  if (!Number.isInteger(value)) throw new ProtocolBreach(`\`${key}\` is not an integer.`);
  return value;
}

function oneOf<T extends string>(value: unknown, known: readonly T[], what: string): T {
  const match = known.find((one) => one === value);
  if (match === undefined) throw new ProtocolBreach(`The ${what} is unknown.`);
  return match;
}
