// Messages between the event loop and the writer thread, their encoding, and the run of a batch. They are
// plain data as JSON, which costs less than a structured clone. Each store has at most one request in flight,
// so responses need no number.
import type { Hash } from 'node:crypto';
import type { Compile } from '../compile.ts';
import { constraintOf } from '../engine/engine-errors.ts';
import type { Damage } from '../integrity/damage.ts';
import type { LogHead } from '../log-head.ts';
import { asInteger, inOrder, type SqlRow, type Statement, type Value } from '../statement.ts';
import { StoreError, type CommitOutcome, type Op, type StoreFault } from '../store.ts';
import type { Prepare } from './transaction.ts';

export interface WireStatement {
  readonly name: string;
  readonly text: string;
  readonly returnsRows: boolean;
  readonly chained: boolean;
  /** Select whose rows a write returns, and the positions of its values among those of the write. */
  readonly returning: { readonly text: string; readonly from: readonly number[] } | null;
}

/** Encodes values that JSON lacks as text: large integers as decimal digits, bytes in base64. */
export type WireValue = string | number | null | { readonly integer: string } | { readonly bytes: string };

/** Number of a statement that was sent before, or the statement itself; its values; the expected number of rows. */
type WireOp = readonly [
  statement: number | WireStatement,
  values: readonly WireValue[],
  expectRows: 1 | null,
];

/** JSON of the ops of a batch. It is encoded once, and the thread extends the hash chain by this text. */
export type WireBatch = string;

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
  /** The batches follow the request, each on a line of its own. */
  | { readonly do: 'commit'; readonly statements: readonly WireStatement[] }
  | { readonly do: 'checkpoint'; readonly nowMs: number }
  | { readonly do: 'verify'; readonly all: boolean }
  | { readonly do: 'reclaim'; readonly pages: number }
  | { readonly do: 'take'; readonly nowMs: number; readonly order: TakeOrder }
  | { readonly do: 'close'; readonly isWhole: boolean; readonly nowMs: number };

/** Order of the continuous copy: archive the next segment, start a new chain, or end the chain. */
export type TakeOrder = 'next' | { readonly begin: string } | { readonly end: string };

/** Encoded error; a structured clone would lose its code. */
interface WireError {
  readonly name: string;
  readonly message: string;
  readonly code: string | null;
  readonly stack: string | null;
}

export type WireRow = Readonly<Record<string, WireValue>>;

export type WireOutcome =
  | { readonly ok: true; readonly rows: readonly (readonly WireRow[])[] }
  | Extract<CommitOutcome, { ok: false }>
  | { readonly ok: 'error'; readonly error: WireError };

export type BatchOutcome = Exclude<WireOutcome, { ok: 'error' }>;

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

/** Returns the message of a request. JSON contains no line feed, so lines separate its parts. */
export const toThreadText = (request: ToThread, batches: readonly WireBatch[] = []): string =>
  [JSON.stringify(request), ...batches].join('\n');

export function fromThreadText(text: string): ToThread & { readonly batches: readonly WireBatch[] } {
  const [request = '', ...batches] = text.split('\n');
  return { ...(JSON.parse(request) as ToThread), batches };
}

/** An `open` has no response: the first commit returns its error. */
export interface FromThread {
  readonly store: number;
  readonly answer: WriterReply;
}

/**
 * Encodes batches for the writer thread. A declared statement is sent once, then referred to by number.
 * Values are checked here, so that an invalid one fails only its caller.
 */
export interface Encoder {
  /** @throws Error for a value that cannot be bound, or a statement that is not bound to its workspace */
  batch(ops: readonly Op[]): WireBatch;
  group(batches: readonly WireBatch[]): WireGroup;
}

export function createEncoder(compile: Compile): Encoder {
  const numbers = new Map<Statement<unknown>, number>();
  let unsent: WireStatement[] = [];

  const refer = (statement: Statement<unknown>): number | WireStatement => {
    if (statement.name === 'composed') return wireStatement(statement);
    const known = numbers.get(statement);
    if (known !== undefined) return known;
    const number = numbers.size;
    numbers.set(statement, number);
    unsent.push(wireStatement(statement));
    return number;
  };

  return {
    batch: (ops) =>
      JSON.stringify(
        ops.map(({ statement, params, scope, expectRows = null }): WireOp => {
          compile(statement);
          if (statement.returning) compile(statement.returning);
          const values = inOrder(statement, params, scope?.workspaceId ?? null, valueToWire);
          return [refer(statement), values, expectRows];
        }),
      ),
    group(batches) {
      const statements = unsent;
      unsent = [];
      return { statements, batches };
    },
  };
}

function wireStatement({
  name,
  text,
  params,
  returnsRows,
  chained,
  returning,
}: Statement<unknown>): WireStatement {
  const then = returning && {
    text: returning.text,
    from: returning.params.map((param) => params.indexOf(param)),
  };
  return { name, text, returnsRows, chained, returning: then };
}

/**
 * Runs the ops of one batch in order inside the open transaction, up to the first failure. Does not roll
 * back: the caller must undo the changes of a batch that fails or throws.
 * @param chain hash of the log head, extended by a successful batch that appends to the event log
 * @throws errors of libsql, except constraint violations
 */
export function runBatch(prepare: Prepare, batch: WireBatch, chain: Hash): BatchOutcome {
  const returned: (readonly WireRow[])[] = [];
  let isChained = false;
  for (const [index, [statement, values, expectRows]] of (JSON.parse(batch) as WireOp[]).entries()) {
    const prepared = prepare(statement);
    let changed: number;
    try {
      const done = prepared.run(values.map(toBind));
      returned.push(done.rows);
      ({ changed } = done);
    } catch (error) {
      const reason = constraintOf(error);
      if (!reason) throw error;
      return { ok: false, op: index, reason, message: String((error as Error).message) };
    }
    if (expectRows !== null && changed !== expectRows) {
      const message = `${prepared.name} changed ${changed} rows`;
      return { ok: false, op: index, reason: 'lost_race', message };
    }
    isChained ||= prepared.chained;
  }
  if (isChained) chain.update(batch);
  return { ok: true, rows: returned };
}

function toBind(value: WireValue): Value {
  return asInteger(valueFromWire(value));
}

export function valueToWire(value: Value): WireValue {
  if (typeof value === 'bigint') return { integer: value.toString() };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  return value;
}

function valueFromWire(value: WireValue): Value {
  if (typeof value !== 'object' || value === null) return value;
  return 'integer' in value ? BigInt(value.integer) : Buffer.from(value.bytes, 'base64');
}

export function outcomeFromWire(outcome: WireOutcome): CommitOutcome | Error {
  if (outcome.ok === 'error') return errorFromWire(outcome.error);
  return outcome.ok ? { ok: true, rows: outcome.rows.map((rows) => rows.map(rowFromWire)) } : outcome;
}

/** Returns the same row, unless it has a value that JSON lacks. */
function rowFromWire(row: WireRow): SqlRow {
  if (!Object.values(row).some((value) => typeof value === 'object' && value !== null)) return row as SqlRow;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, valueFromWire(value)]));
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
