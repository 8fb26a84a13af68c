// One store in the writer thread: its connection, which alone writes and checkpoints the file, and the questions it answers.
import Database from 'libsql';
import { diskFaultOf, faultOf } from '../engine-errors.ts';
import { describeDamage, type Damage } from '../integrity/damage.ts';
import { openFolding, type Folding } from '../integrity/folding.ts';
import { leaveOpen } from '../integrity/leave-open.ts';
import { openScrub } from '../integrity/scrub.ts';
import type { LogHead } from '../log-head.ts';
import { StoreError } from '../store.ts';
import type { BatchOutcome } from './batch.ts';
import type { HeadKeeper } from './head-keeper.ts';
import { createPrepare } from './prepare.ts';
import { createTransactions, type Transactions } from './transaction.ts';
import { openWalGauge } from './wal.ts';
import {
  errorToWire,
  faultToWire,
  type GroupAnswer,
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
  checkpoint(): void;
  /** Compares the next piece of the file, or all of it, with its checksums. After damage was found nothing is written any more. */
  verify(all: boolean): Damage | null;
  /**
   * @param isWhole what was written may be trusted, and is to lie in the one file
   * @returns whether it does
   */
  close(isWhole: boolean): Promise<boolean>;
}

/** @throws what libsql throws for a file that it cannot open */
export function openEngine(options: { path: string; keeper: HeadKeeper; head: LogHead }): Engine {
  const { path, keeper, head } = options;
  const db = new Database(path);
  for (const pragma of pragmas) db.prepare(`PRAGMA ${pragma}`).all();
  const { page_size: pageBytes } = db.prepare('PRAGMA page_size').all()[0] as { page_size: number };
  const { prepare, learn } = createPrepare(db);
  const transactions = createTransactions({ db, prepare, keeper, head });
  const wal = openWalGauge(`${path}-wal`, pageBytes);
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
    checkpoint() {
      if (!damage) wal.checkpointed(folding.fold());
    },
    verify(all) {
      const sums = folding.sums();
      return (damage ??= sums && scrub.look(sums, all));
    },
    async close(isWhole) {
      db.prepare('PRAGMA busy_timeout = 0').all();
      const isFolded = isWhole && !damage && folding.foldAll();
      wal.close();
      folding.close();
      if (isFolded) {
        db.close();
        scrub.close();
      } else leaveOpen(db);
      await keeper.close();
      return isFolded;
    },
  };
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
