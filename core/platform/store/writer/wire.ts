// Messages between the event loop and the writer thread: plain data as JSON, which costs less than a structured clone. Each store has at
// most one request in flight, so responses need no number.
import type { Damage } from '../integrity/damage.ts';
import type { LogHead } from '../log-head.ts';
import type { SqlRow, Value } from '../statement.ts';
import { StoreError, type CommitOutcome, type StoreFault } from '../store.ts';
import { rowOf, shapeOf } from '../values.ts';

export interface WireStatement {
  readonly name: string;
  readonly text: string;
  readonly returnsRows: boolean;
  readonly chained: boolean;
}

/** Encodes values that JSON lacks as text: large integers as decimal digits, bytes in base64. */
export type WireValue = string | number | null | { readonly integer: string } | { readonly bytes: string };

interface WireOp {
  /** Number of a statement that was sent before, or the statement itself. */
  readonly statement: number | WireStatement;
  readonly values: readonly WireValue[];
  readonly expectRows: 1 | null;
}

export type WireBatch = readonly WireOp[];

export interface WireGroup {
  /** Newly used statements; their numbers continue from the last one. */
  readonly statements: readonly WireStatement[];
  readonly batches: readonly WireBatch[];
}

export type WriterRequest =
  | {
      readonly do: 'open';
      readonly path: string;
      readonly logHead: string;
      readonly head: LogHead;
      /** Segment folder of the continuous copy; null if none is made. */
      readonly walArchive: string | null;
    }
  | ({ readonly do: 'commit' } & WireGroup)
  | { readonly do: 'checkpoint'; readonly nowMs: number }
  | { readonly do: 'verify'; readonly all: boolean }
  | { readonly do: 'reclaim'; readonly pages: number }
  | { readonly do: 'take'; readonly nowMs: number; readonly order: TakeOrder }
  | { readonly do: 'close'; readonly isWhole: boolean; readonly nowMs: number };

/** Order of the continuous copy: archive the next segment, start a new chain, or end the chain. */
export type TakeOrder = 'next' | { readonly begin: string } | { readonly end: string };

/** Encoded error; a structured clone would lose its code. */
export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly code: string | null;
  readonly stack: string | null;
}

/** Rows returned by an op; null if the statement returns none. */
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
      /** A failure of a single batch (a value that a function rejects) takes its place. */
      readonly outcomes: readonly WireOutcome[];
      readonly wroteRows: boolean;
      /** True if a checkpoint is due. */
      readonly logIsLong: boolean;
    }
  | {
      readonly ok: false;
      readonly fault: StoreFault;
      readonly message: string;
      readonly cause: WireError;
      /** True if the content of the file is unknown: no later write may claim to be durable. */
      readonly breaks: boolean;
    };

/** Size of the file in pages. */
export interface FileSpace {
  readonly pages: number;
  /** Number of free pages. */
  readonly free: number;
}

/** Null acknowledges a request without result. */
export type WriterReply =
  | GroupAnswer
  | { readonly ok: 'verified'; readonly damage: Damage | null }
  | { readonly ok: 'reclaimed'; readonly space: FileSpace | null }
  | { readonly ok: 'closed'; readonly isCheckpointed: boolean }
  | null;

export interface ToThread {
  readonly store: number;
  readonly ask: WriterRequest;
}

/** An `open` has no response: the first commit returns its error. */
export interface FromThread {
  readonly store: number;
  readonly answer: WriterReply;
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

function rowsFromWire(returned: WireRows): readonly SqlRow[] {
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
