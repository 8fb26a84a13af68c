// What crosses between the event loop and the writer thread: plain data, as JSON, which costs less than a structured clone. Questions
// are asked one at a time for each store, so that an answer needs no number.
import type { Damage } from '../integrity/damage.ts';
import type { LogHead } from '../log-head.ts';
import type { Row, Value } from '../statement.ts';
import { StoreError, type CommitOutcome, type StoreFault } from '../store.ts';
import { rowOf, shapeOf } from '../values.ts';

/** What the thread has to know of a statement. */
export interface WireStatement {
  readonly name: string;
  readonly text: string;
  readonly returnsRows: boolean;
  readonly chained: boolean;
}

/** What JSON does not have goes as a text: a large integer as its digits, bytes in base64. */
export type WireValue = string | number | null | { readonly integer: string } | { readonly bytes: string };

interface WireOp {
  /** Its number where the thread has been told of it. */
  readonly statement: number | WireStatement;
  readonly values: readonly WireValue[];
  readonly expectRows: 1 | null;
}

export type WireBatch = readonly WireOp[];

export interface WireGroup {
  /** Those that were not sent before; their numbers go on from the last one's. */
  readonly statements: readonly WireStatement[];
  readonly batches: readonly WireBatch[];
}

export type Ask =
  | {
      readonly do: 'open';
      readonly path: string;
      readonly logHead: string;
      readonly head: LogHead;
      /** Of the continuous copy; null where none is made. */
      readonly spool: string | null;
    }
  | ({ readonly do: 'commit' } & WireGroup)
  | { readonly do: 'checkpoint'; readonly nowMs: number }
  | { readonly do: 'verify'; readonly all: boolean }
  | { readonly do: 'reclaim'; readonly pages: number }
  | { readonly do: 'take'; readonly nowMs: number; readonly order: TakeOrder }
  | { readonly do: 'close'; readonly isWhole: boolean; readonly nowMs: number };

/** What the continuous copy asks for: the next segment, the first one of a new chain, or no further one. */
export type TakeOrder = 'next' | { readonly begin: string } | { readonly end: string };

/** An error as it crosses: a clone would lose its code. */
export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly code: string | null;
  readonly stack: string | null;
}

/** What an op returned; null where it returns no rows. */
export type WireRows = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly WireValue[])[];
} | null;

export type WireOutcome =
  | { readonly ok: true; readonly rows: readonly WireRows[] }
  | Extract<CommitOutcome, { ok: false }>
  | { readonly ok: 'error'; readonly error: WireError };

export type GroupAnswer =
  | {
      readonly ok: true;
      /** A fault of one batch alone (a value that a function cannot take) stands in its place. */
      readonly outcomes: readonly WireOutcome[];
      readonly wroteRows: boolean;
      /** It is time for a checkpoint. */
      readonly logIsLong: boolean;
    }
  | {
      readonly ok: false;
      readonly fault: StoreFault;
      readonly message: string;
      readonly cause: WireError;
      /** Nobody knows what the file holds: no later write may claim to be durable. */
      readonly breaks: boolean;
    };

/** What the file takes, in pages. */
export interface FileSpace {
  readonly pages: number;
  /** Of these, the ones that hold nothing. */
  readonly free: number;
}

/** Null where there is nothing to say but that it is done. */
export type Answer =
  | GroupAnswer
  | { readonly ok: 'verified'; readonly damage: Damage | null }
  | { readonly ok: 'reclaimed'; readonly space: FileSpace | null }
  | { readonly ok: 'closed'; readonly isFolded: boolean }
  | null;

export interface ToThread {
  readonly store: number;
  readonly ask: Ask;
}

/** Of an `open` there is no answer: what went wrong is told to the first commit. */
export interface FromThread {
  readonly store: number;
  readonly answer: Answer;
}

export function valueToWire(value: Value): WireValue {
  if (typeof value === 'bigint') return { integer: value.toString() };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  return value;
}

export function valueFromWire(value: WireValue): Value {
  if (typeof value !== 'object' || value === null) return value;
  return 'integer' in value ? BigInt(value.integer) : Buffer.from(value.bytes, 'base64');
}

export function outcomeFromWire(outcome: WireOutcome): CommitOutcome | Error {
  if (outcome.ok === 'error') return errorFromWire(outcome.error);
  return outcome.ok ? { ok: true, rows: outcome.rows.map(rowsFromWire) } : outcome;
}

function rowsFromWire(returned: WireRows): readonly Row[] {
  if (!returned) return [];
  const { columns, rows } = returned;
  const shape = shapeOf(columns);
  return rows.map((values) => rowOf(shape, values.map(valueFromWire)));
}

export function errorToWire(error: unknown): WireError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), code: null, stack: null };
  const { name, message, stack = null } = error;
  return { name, message, code: 'code' in error ? String(error.code) : null, stack };
}

function errorFromWire({ name, message, code, stack }: WireError): Error {
  const error = new Error(message);
  error.name = name;
  if (stack !== null) error.stack = stack;
  return code === null ? error : Object.assign(error, { code });
}

export function faultToWire({ fault, message, cause }: StoreError, breaks: boolean): GroupAnswer {
  return { ok: false, fault, message, cause: errorToWire(cause ?? message), breaks };
}

export function faultFromWire({ fault, message, cause }: Extract<GroupAnswer, { ok: false }>): StoreError {
  return new StoreError(fault, message, errorFromWire(cause));
}
