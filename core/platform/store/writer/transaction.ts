// Commits a group of batches in one transaction together with the log head. Batches first run without
// savepoints, because nearly all succeed; if one fails, the group is restarted with a savepoint for each
// batch.
import { createHash, type Hash } from 'node:crypto';
import Database from 'libsql';
import { LRUCache } from 'lru-cache';
import { concernsStore, isEngineError } from '../engine/engine-errors.ts';
import type { LogHead } from '../log-head.ts';
import { rowMaker, type Value } from '../statement.ts';
import { StoreError } from '../store.ts';
import type { HeadWriter } from './engine.ts';
import {
  runBatch,
  valueToWire,
  type BatchOutcome,
  type WireBatch,
  type WireRow,
  type WireStatement,
} from './wire.ts';

/** A failure of a single batch (a value that a function rejects) is an Error in its place. */
type Outcomes = readonly (BatchOutcome | Error)[];

interface GroupResult {
  readonly outcomes: Outcomes;
  readonly wroteRows: boolean;
}

export interface Transactions {
  /** Head of the committed state. */
  head(): LogHead;
  /** @throws libsql's error if the file is locked or missing */
  begin(): void;
  /** Runs the open group; durable on return. After an exception the caller must call `abandon`. */
  commit(group: readonly WireBatch[]): GroupResult;
  /** Rolls back the open group. @returns the fault, or `broken` if the rollback fails */
  abandon(fault: StoreError): StoreError;
}

interface On {
  readonly db: Database.Database;
  readonly prepare: Prepare;
}

/** @param options.head head at which the log continues */
export function createTransactions(options: On & { headWriter: HeadWriter; head: LogHead }): Transactions {
  const { db, prepare, headWriter } = options;
  const steps = prepareSteps(db);
  let { head } = options;

  /** Restarts the hash at the head, discarding an earlier attempt. */
  const chainFromHead = (): Hash => createHash('sha256').update(head.hash);

  return {
    head: () => head,
    begin: () => void steps.begin.run(),
    commit(group) {
      const before = steps.rowsWritten();
      let chain = chainFromHead();
      let outcomes: Outcomes | null = runTogether({ db, prepare }, group, chain);
      if (!outcomes) {
        steps.rollback.run();
        steps.begin.run();
        chain = chainFromHead();
        outcomes = runApart({ db, prepare, steps }, group, chain);
      }
      const wroteRows = steps.rowsWritten() > before;
      if (!wroteRows) steps.commit.run();
      else {
        const next = { position: head.position + 1, hash: chain.digest('hex') };
        steps.moveHead.run([BigInt(next.position), next.hash]);
        steps.commit.run();
        head = next;
        headWriter.write(head);
      }
      return { outcomes, wroteRows };
    },
    abandon(fault) {
      // SQLite rolls back automatically after a full disk or an I/O error.
      if (!db.inTransaction) return fault;
      try {
        steps.rollback.run();
        return fault;
      } catch (error) {
        if (!isEngineError(error)) throw error;
        return new StoreError('broken', `A failed group could not be rolled back: ${error.message}`, error);
      }
    },
  };
}

type Steps = ReturnType<typeof prepareSteps>;

function prepareSteps(db: Database.Database) {
  const totalChanges = db.prepare('SELECT total_changes()').raw(true);
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
    savepoint: db.prepare('SAVEPOINT batch'),
    release: db.prepare('RELEASE batch'),
    undo: db.prepare('ROLLBACK TO batch'),
    moveHead: db.prepare('UPDATE log_head SET position = ?1, hash = ?2 WHERE id = 1'),
    rowsWritten: (): number => Number((totalChanges.get([]) as Value[])[0]),
  };
}

/** Runs without savepoints; returns null as soon as a batch fails. */
function runTogether({ db, prepare }: On, group: readonly WireBatch[], chain: Hash): BatchOutcome[] | null {
  const outcomes: BatchOutcome[] = [];
  for (const batch of group) {
    try {
      const outcome = runBatch(prepare, batch, chain);
      if (!outcome.ok) return null;
      outcomes.push(outcome);
    } catch (error) {
      if (concernsStore(error) || !db.inTransaction) throw error;
      return null;
    }
  }
  return outcomes;
}

/** Runs each batch in its own savepoint, so that a failed batch does not affect the others. */
function runApart(
  { db, prepare, steps }: On & { steps: Steps },
  group: readonly WireBatch[],
  chain: Hash,
): Outcomes {
  return group.map((batch) => {
    steps.savepoint.run();
    let outcome: BatchOutcome | Error;
    try {
      outcome = runBatch(prepare, batch, chain);
    } catch (error) {
      if (concernsStore(error) || !db.inTransaction) throw error;
      outcome = error instanceof Error ? error : new Error(String(error));
    }
    if (outcome instanceof Error || !outcome.ok) steps.undo.run();
    steps.release.run();
    return outcome;
  });
}

const composedMax = 500;

interface Prepared {
  readonly name: string;
  readonly chained: boolean;
  run(values: readonly Value[]): { readonly changed: number; readonly rows: readonly WireRow[] };
}

/** @throws libsql's error for invalid SQL */
export type Prepare = (statement: number | WireStatement) => Prepared;

/**
 * Prepares the statements of the writer's connection at first use. The tenant guard checked them before they
 * were sent.
 */
export function createPrepare(db: Database.Database): {
  prepare: Prepare;
  /** Registers statements; numbering continues from earlier ones. */
  register(statements: readonly WireStatement[]): void;
} {
  const known: { readonly statement: WireStatement; prepared: Prepared | null }[] = [];
  const composed = new LRUCache<string, Prepared>({ max: composedMax });
  return {
    register(statements) {
      for (const statement of statements) known.push({ statement, prepared: null });
    },
    prepare(statement) {
      if (typeof statement === 'number') {
        const entry = known[statement];
        if (!entry) throw new Error(`The writer has no statement ${statement}.`);
        return (entry.prepared ??= prepareOn(db, entry.statement));
      }
      const created = composed.get(statement.text) ?? prepareOn(db, statement);
      composed.set(statement.text, created);
      return created;
    },
  };
}

function prepareOn(db: Database.Database, statement: WireStatement): Prepared {
  const { name, chained } = statement;
  return { name, chained, run: runnerOn(db, statement) };
}

const none: readonly WireRow[] = [];

function runnerOn(db: Database.Database, { text, returnsRows, returning }: WireStatement): Prepared['run'] {
  const write = db.prepare(text);
  if (returnsRows) {
    const toRow = toWireRow(write.raw(true));
    return (values) => {
      const rows = (write.all(values) as Value[][]).map(toRow);
      return { changed: rows.length, rows };
    };
  }
  if (!returning) return (values) => ({ changed: write.run(values).changes, rows: none });
  const select = db.prepare(returning.text).raw(true);
  const toRow = toWireRow(select);
  return (values) => {
    const { changes: changed } = write.run(values);
    const row = changed === 0 ? undefined : select.get(returning.from.map((at) => values[at]!));
    return { changed, rows: row === undefined ? none : [toRow(row as Value[])] };
  };
}

function toWireRow(prepared: Database.Statement): (values: Value[]) => WireRow {
  const toRow = rowMaker(prepared.columns().map(({ name }) => name));
  return (values) => toRow(values.map(valueToWire) as Value[]) as WireRow;
}
