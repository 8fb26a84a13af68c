// One transaction for a group of batches, and the log head that moves with it. Batches run without savepoints, which nearly
// always do; where one of them fails, the group is begun anew and each runs in a savepoint of its own.
import type Database from 'libsql';
import { createHash, type Hash } from 'node:crypto';
import { concernsStore, isEngineError } from '../engine-errors.ts';
import type { LogHead } from '../log-head.ts';
import type { Value } from '../statement.ts';
import { StoreError } from '../store.ts';
import { runBatch, type BatchOutcome } from './batch.ts';
import type { HeadKeeper } from './head-keeper.ts';
import type { Prepare } from './prepare.ts';
import type { WireBatch } from './wire.ts';

/** A fault of one batch alone (a value that a function cannot take) is an Error in its place. */
type Outcomes = readonly (BatchOutcome | Error)[];

interface GroupResult {
  readonly outcomes: Outcomes;
  readonly wroteRows: boolean;
}

export interface Transactions {
  /** Of what is committed. */
  head(): LogHead;
  /** @throws what libsql throws where the file is locked or gone */
  begin(): void;
  /** Runs the begun group; durable on return. What it throws leaves the group to `abandon`. */
  commit(group: readonly WireBatch[]): GroupResult;
  /** Undoes the begun group. @returns the fault, or a worse one when the group cannot be undone */
  abandon(fault: StoreError): StoreError;
}

interface On {
  readonly db: Database.Database;
  readonly prepare: Prepare;
}

/** @param options.head where the log goes on */
export function createTransactions(options: On & { keeper: HeadKeeper; head: LogHead }): Transactions {
  const { db, prepare, keeper } = options;
  const steps = prepareSteps(db);
  let { head } = options;

  /** From the head on, whatever an attempt before has added. */
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
        keeper.write(head);
      }
      return { outcomes, wroteRows };
    },
    abandon(fault) {
      // SQLite rolls back by itself after a full disk or an I/O error.
      if (!db.inTransaction) return fault;
      try {
        steps.rollback.run();
        return fault;
      } catch (error) {
        if (!isEngineError(error)) throw error;
        return new StoreError('broken', `A failed group could not be undone: ${error.message}`, error);
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
    rowsWritten: (): number => Number((totalChanges.all([]) as Value[][])[0]![0]),
  };
}

/** Without savepoints; null as soon as a batch fails. */
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

/** Each in a savepoint of its own, so that a batch that fails costs the others nothing. */
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
