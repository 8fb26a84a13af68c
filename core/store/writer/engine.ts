// One store in the writer thread: the only connection that writes and checkpoints the file, and the requests it serves.
import Database from 'libsql';
import { diskFaultOf, faultOf, isEngineError } from '../engine-errors.ts';
import { describeDamage, type Damage } from '../integrity/damage.ts';
import { openFolding, type Folding } from '../integrity/folding.ts';
import { leaveOpen } from '../integrity/leave-open.ts';
import { openScrub } from '../integrity/scrub.ts';
import type { LogHead } from '../log-head.ts';
import { openTaker, type TakenAt, type Taker } from '../spool/taker.ts';
import { StoreError } from '../store.ts';
import type { BatchOutcome } from './batch.ts';
import type { HeadWriter } from './head-keeper.ts';
import { createPrepare } from './prepare.ts';
import { createTransactions, type Transactions } from './transaction.ts';
import { openWalGauge } from './wal.ts';
import {
  errorToWire,
  faultToWire,
  type FileSpace,
  type GroupAnswer,
  type TakeOrder,
  type WireBatch,
  type WireGroup,
  type WireOutcome,
} from './wire.ts';

const pragmas = [
  // Another process may hold the lock briefly; the writer thread can afford to wait.
  'busy_timeout = 2000',
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  'cache_size = -65536',
  'temp_store = MEMORY',
  // An automatic checkpoint would delay the responses to a commit; see `checkpoint`.
  'wal_autocheckpoint = 0',
  // A long transaction or reader can make the log long; its file is truncated to this size when it restarts.
  'journal_size_limit = 67108864',
];

export interface Engine {
  commit(group: WireGroup): GroupAnswer;
  /** Checkpoints the log, except frames that are newer than an open read snapshot. */
  checkpoint(nowMs: number): void;
  /** Verifies the checksums of the next piece of the file, or of all of it. Once damage is found the engine writes nothing more. */
  verify(all: boolean): Damage | null;
  /** Returns up to `pages` free pages to the disk. @returns the remaining space; null if the file cannot be written */
  reclaim(pages: number): FileSpace | null;
  /** Archives the committed WAL frames for the continuous copy. */
  take(order: TakeOrder, nowMs: number): void;
  /**
   * @param isWhole false if written data may be incomplete, so that the log must not be checkpointed
   * @returns true if the database file holds everything
   */
  close(isWhole: boolean, nowMs: number): Promise<boolean>;
}

/** @throws libsql's error if the file cannot be opened */
export function openEngine(options: {
  path: string;
  headWriter: HeadWriter;
  head: LogHead;
  /** Segment folder of the continuous copy; null if none is made. */
  spool: string | null;
}): Engine {
  const { path, headWriter, head, spool } = options;
  const db = new Database(path);
  for (const pragma of pragmas) db.prepare(`PRAGMA ${pragma}`).all();
  const { page_size: pageBytes } = db.prepare('PRAGMA page_size').all()[0] as { page_size: number };
  const { prepare, learn } = createPrepare(db);
  const transactions = createTransactions({ db, prepare, headWriter, head });
  const wal = openWalGauge(`${path}-wal`, pageBytes);
  const taker = spool === null ? null : openTaker({ database: path, spool });
  const takenAt = (timeMs: number): TakenAt => ({ timeMs, head: transactions.head() });
  const folding = openFolding(db, path, pageBytes);
  const scrub = openScrub(path, pageBytes);
  let damage: Damage | null = null;

  return {
    commit({ statements, batches }) {
      learn(statements);
      if (damage) return faultToWire(new StoreError('damaged', describeDamage(path, damage)), false);
      const answer = commitGroup({ transactions, headWriter, folding }, batches);
      return answer.ok && wal.isLong() ? { ...answer, logIsLong: true } : answer;
    },
    // The next write restarts the log, unless a reader still uses it; then the log grows until a later checkpoint.
    checkpoint(nowMs) {
      if (damage) return;
      taker?.take(takenAt(nowMs));
      wal.checkpointed(folding.fold());
      taker?.folded();
    },
    verify(all) {
      const sums = folding.sums();
      return (damage ??= sums && scrub.look(sums, all));
    },
    reclaim: (pages) => (damage ? null : giveBack(db, folding, pages)),
    take: (order, nowMs) => taker && follow(taker, order, takenAt(nowMs)),
    async close(isWhole, nowMs) {
      if (isWhole && !damage) taker?.take(takenAt(nowMs));
      db.prepare('PRAGMA busy_timeout = 0').all();
      const isFolded = isWhole && !damage && folding.foldAll();
      wal.close();
      folding.close();
      if (isFolded) {
        db.close();
        scrub.close();
        taker?.folded();
      } else leaveOpen(db);
      await headWriter.close();
      return isFolded;
    },
  };
}

/** Runs in one transaction. A file without incremental auto-vacuum returns nothing, so its number of free pages does not change. */
function giveBack(db: Database.Database, folding: Folding, pages: number): FileSpace | null {
  const count = (pragma: string): number =>
    Number(Object.values(db.prepare(`PRAGMA ${pragma}`).all()[0] as object)[0]);
  try {
    folding.settle();
    // Each step of the statement frees one page.
    if (pages > 0) db.prepare(`PRAGMA incremental_vacuum(${pages})`).all();
    return { pages: count('page_count'), free: count('freelist_count') };
  } catch (error) {
    if (!isEngineError(error) && diskFaultOf(error).fault === 'broken') throw error;
    return null;
  }
}

function follow(taker: Taker, order: TakeOrder, at: TakenAt): void {
  if (order === 'next') taker.take(at);
  else if ('begin' in order) taker.begin(order.begin, at);
  else taker.end(order.end);
}

interface CommitsWith {
  readonly transactions: Transactions;
  readonly headWriter: HeadWriter;
  readonly folding: Folding;
}

function commitGroup(
  { transactions, headWriter, folding }: CommitsWith,
  batches: readonly WireBatch[],
): GroupAnswer {
  try {
    headWriter.check();
  } catch (error) {
    return faultToWire(faultOf(error), true);
  }
  try {
    folding.settle();
  } catch (error) {
    return faultToWire(diskFaultOf(error), false);
  }
  try {
    transactions.begin();
  } catch (error) {
    return faultToWire(faultOf(error), false);
  }
  try {
    const { outcomes, wroteRows } = transactions.commit(batches);
    const said = outcomes.map(outcomeToWire);
    return { ok: true, outcomes: said, wroteRows, logIsLong: false };
  } catch (error) {
    const fault = transactions.abandon(faultOf(error));
    return faultToWire(fault, fault.fault === 'broken');
  }
}

function outcomeToWire(outcome: BatchOutcome | Error): WireOutcome {
  return outcome instanceof Error ? { ok: 'error', error: errorToWire(outcome) } : outcome;
}
