// One store in the writer thread: its connection, which alone writes and checkpoints the file, and the questions it answers.
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
import type { HeadKeeper } from './head-keeper.ts';
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
  // Another process may hold the lock for a moment. A thread that does nothing else may wait for it.
  'busy_timeout = 2000',
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  'cache_size = -65536',
  'temp_store = MEMORY',
  // One that comes with a commit would keep those waiting who are to be answered; see `checkpoint`.
  'wal_autocheckpoint = 0',
  // One long transaction, or a reader that stays, makes the log long for once; when it begins anew its file is cut to this.
  'journal_size_limit = 67108864',
];

export interface Engine {
  commit(group: WireGroup): GroupAnswer;
  /** What a reader still looks past, it cannot fold in. */
  checkpoint(nowMs: number): void;
  /** Compares the next piece of the file, or all of it, with its checksums. After damage was found nothing is written any more. */
  verify(all: boolean): Damage | null;
  /** Gives up to so many free pages back to the disk. @returns what is left; null where the file takes no writes */
  reclaim(pages: number): FileSpace | null;
  /** Puts aside for the continuous copy what was committed. */
  take(order: TakeOrder, nowMs: number): void;
  /**
   * @param isWhole what was written may be trusted, and is to lie in the one file
   * @returns whether it does
   */
  close(isWhole: boolean, nowMs: number): Promise<boolean>;
}

/** @throws what libsql throws for a file that it cannot open */
export function openEngine(options: {
  path: string;
  keeper: HeadKeeper;
  head: LogHead;
  /** Of the continuous copy; null where none is made. */
  spool: string | null;
}): Engine {
  const { path, keeper, head, spool } = options;
  const db = new Database(path);
  for (const pragma of pragmas) db.prepare(`PRAGMA ${pragma}`).all();
  const { page_size: pageBytes } = db.prepare('PRAGMA page_size').all()[0] as { page_size: number };
  const { prepare, learn } = createPrepare(db);
  const transactions = createTransactions({ db, prepare, keeper, head });
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
      const answer = commitGroup({ transactions, keeper, folding }, batches);
      return answer.ok && wal.isLong() ? { ...answer, logIsLong: true } : answer;
    },
    // The next write begins the log anew, unless somebody still reads in it: then it grows, and is tried again later.
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
      await keeper.close();
      return isFolded;
    },
  };
}

/** One transaction. A file that was not made for it gives nothing back, and says so by its free pages staying. */
function giveBack(db: Database.Database, folding: Folding, pages: number): FileSpace | null {
  const count = (pragma: string): number =>
    Number(Object.values(db.prepare(`PRAGMA ${pragma}`).all()[0] as object)[0]);
  try {
    folding.settle();
    // Each step of the statement gives one page back.
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
  readonly keeper: HeadKeeper;
  readonly folding: Folding;
}

function commitGroup(
  { transactions, keeper, folding }: CommitsWith,
  batches: readonly WireBatch[],
): GroupAnswer {
  try {
    keeper.check();
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
