// One store in the writer thread: its connection, which alone writes and checkpoints the file, and the questions it answers.
import Database from 'libsql';
import { faultOf, isEngineError } from '../engine-errors.ts';
import type { LogHead } from '../log-head.ts';
import { openTaker, type TakenAt, type Taker } from '../spool/taker.ts';
import type { BatchOutcome } from './batch.ts';
import type { HeadKeeper } from './head-keeper.ts';
import { createPrepare } from './prepare.ts';
import { createTransactions, type Transactions } from './transaction.ts';
import { openWalGauge } from './wal.ts';
import {
  errorToWire,
  faultToWire,
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
];

export interface Engine {
  commit(group: WireGroup): GroupAnswer;
  /** What a reader still looks past, it cannot fold in. */
  checkpoint(nowMs: number): void;
  /** Puts aside for the continuous copy what was committed. */
  take(order: TakeOrder, nowMs: number): void;
  /** @param isWhole what was written may be trusted, and is to lie in the one file */
  close(isWhole: boolean, nowMs: number): Promise<void>;
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

  return {
    commit({ statements, batches }) {
      learn(statements);
      const answer = commitGroup(transactions, keeper, batches);
      return answer.ok && wal.isLong() ? { ...answer, logIsLong: true } : answer;
    },
    // The next write begins the log anew, unless somebody still reads in it: then it grows, and is tried again later.
    checkpoint(nowMs) {
      taker?.take(takenAt(nowMs));
      wal.checkpointed(foldLogIn(db, 'PASSIVE'));
      taker?.folded();
    },
    take: (order, nowMs) => taker && follow(taker, order, takenAt(nowMs)),
    async close(isWhole, nowMs) {
      if (isWhole) {
        taker?.take(takenAt(nowMs));
        db.prepare('PRAGMA busy_timeout = 0').all();
        foldLogIn(db, 'TRUNCATE');
      }
      wal.close();
      db.close();
      if (isWhole) taker?.folded();
      await keeper.close();
    },
  };
}

function follow(taker: Taker, order: TakeOrder, at: TakenAt): void {
  if (order === 'next') taker.take(at);
  else if ('begin' in order) taker.begin(order.begin, at);
  else taker.end(order.end);
}

function commitGroup(
  transactions: Transactions,
  keeper: HeadKeeper,
  batches: readonly WireBatch[],
): GroupAnswer {
  try {
    keeper.check();
  } catch (error) {
    return faultToWire(faultOf(error), true);
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

/** What it could not do is done by a later one, or by the next start, which reads the log instead. @returns the frames of the log */
function foldLogIn(db: Database.Database, mode: 'PASSIVE' | 'TRUNCATE'): number {
  try {
    const [done] = db.prepare(`PRAGMA wal_checkpoint(${mode})`).all() as { log: number }[];
    return done?.log ?? 0;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return 0;
  }
}
