// Serves the requests of one store in the writer thread, over the only connection that writes and checkpoints
// the file.
import { closeSync, fdatasync, openSync, readSync } from 'node:fs';
import Database from 'libsql';
import { diskFaultOf, faultOf, isEngineError } from '../engine/engine-errors.ts';
import { leaveOpen, openCheckpointer, type Checkpointer } from '../integrity/checkpointer.ts';
import { describeDamage, type Damage } from '../integrity/damage.ts';
import { openScrub } from '../integrity/verify.ts';
import { slotOf, writeSlot, type LogHead, type Slot } from '../log-head.ts';
import { StoreError } from '../store.ts';
import { openWalArchiver, type TakenAt, type WalArchiver } from '../wal-archive/wal-archiver.ts';
import { frameHeaderBytes, walHeaderBytes as headerBytes } from '../wal-format.ts';
import { createPrepare, createTransactions, type Transactions } from './transaction.ts';
import {
  errorToWire,
  faultToWire,
  type BatchOutcome,
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
   * @returns true if the database file contains every commit
   */
  close(isWhole: boolean, nowMs: number): Promise<boolean>;
}

/** @throws libsql's error if the file cannot be opened */
export function openEngine(options: {
  path: string;
  headWriter: HeadWriter;
  head: LogHead;
  /** Segment folder of the continuous copy; null if none is made. */
  walArchive: string | null;
}): Engine {
  const { path, headWriter, head, walArchive } = options;
  const db = new Database(path);
  for (const pragma of pragmas) db.prepare(`PRAGMA ${pragma}`).all();
  const { page_size: pageBytes } = db.prepare('PRAGMA page_size').all()[0] as { page_size: number };
  const { prepare, register } = createPrepare(db);
  const transactions = createTransactions({ db, prepare, headWriter, head });
  const wal = openWalGauge(`${path}-wal`, pageBytes);
  const walArchiver = walArchive === null ? null : openWalArchiver({ database: path, walArchive });
  const takenAt = (timeMs: number): TakenAt => ({ timeMs, head: transactions.head() });
  const checkpointer = openCheckpointer(db, path, pageBytes);
  const scrub = openScrub(path, pageBytes);
  let damage: Damage | null = null;

  return {
    commit({ statements, batches }) {
      register(statements);
      if (damage) return faultToWire(new StoreError('damaged', describeDamage(path, damage)), false);
      const answer = commitGroup({ transactions, headWriter, checkpointer }, batches);
      return answer.ok && wal.isLong() ? { ...answer, logIsLong: true } : answer;
    },
    // The next write restarts the log, unless a reader still uses it; then the log grows until a later checkpoint.
    checkpoint(nowMs) {
      if (damage) return;
      walArchiver?.archive(takenAt(nowMs));
      wal.checkpointed(checkpointer.checkpointPassive());
      walArchiver?.checkpointed();
    },
    verify(all) {
      const sums = checkpointer.sums();
      return (damage ??= sums && scrub.look(sums, all));
    },
    reclaim: (pages) => (damage ? null : reclaimPages(db, checkpointer, pages)),
    take: (order, nowMs) => walArchiver && follow(walArchiver, order, takenAt(nowMs)),
    async close(isWhole, nowMs) {
      if (isWhole && !damage) walArchiver?.archive(takenAt(nowMs));
      db.prepare('PRAGMA busy_timeout = 0').all();
      const isCheckpointed = isWhole && !damage && checkpointer.checkpointAll();
      wal.close();
      checkpointer.close();
      if (isCheckpointed) {
        db.close();
        scrub.close();
        walArchiver?.checkpointed();
      } else leaveOpen(db);
      await headWriter.close();
      return isCheckpointed;
    },
  };
}

/** Runs in one transaction. A file without incremental auto-vacuum returns nothing, so its number of free pages does not change. */
function reclaimPages(db: Database.Database, checkpointer: Checkpointer, pages: number): FileSpace | null {
  const count = (pragma: string): number =>
    Number(Object.values(db.prepare(`PRAGMA ${pragma}`).all()[0] as object)[0]);
  try {
    checkpointer.settle();
    // Each step of the statement frees one page.
    if (pages > 0) db.prepare(`PRAGMA incremental_vacuum(${pages})`).all();
    return { pages: count('page_count'), free: count('freelist_count') };
  } catch (error) {
    if (!isEngineError(error) && diskFaultOf(error).fault === 'broken') throw error;
    return null;
  }
}

function follow(walArchiver: WalArchiver, order: TakeOrder, at: TakenAt): void {
  if (order === 'next') walArchiver.archive(at);
  else if ('begin' in order) walArchiver.begin(order.begin, at);
  else walArchiver.end(order.end);
}

interface CommitsWith {
  readonly transactions: Transactions;
  readonly headWriter: HeadWriter;
  readonly checkpointer: Checkpointer;
}

function commitGroup(
  { transactions, headWriter, checkpointer }: CommitsWith,
  batches: readonly WireBatch[],
): GroupAnswer {
  try {
    headWriter.check();
  } catch (error) {
    return faultToWire(faultOf(error), true);
  }
  try {
    checkpointer.settle();
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

/**
 * Maintains the log head file while groups commit. The head is written before a commit is acknowledged, so
 * that it survives a killed process, and synced concurrently with later groups, at most one sync behind.
 * docs/decisions/0018.
 */
export interface HeadWriter {
  /** @throws the error of an earlier failed sync */
  check(): void;
  /** @throws the error of the write, or of an earlier failed sync */
  write(head: LogHead): void;
  /** The head is durable once resolved, unless a sync failed. */
  close(): Promise<void>;
}

/** @param head head in the file, already synced */
export function openHeadWriter(path: string, head: LogHead): HeadWriter {
  const fd = openSync(path, 'r+');
  /** Slot to write; the other slot is durable and intact. */
  let slot: Slot = otherThan(slotOf(head));
  let unsynced = false;
  let syncing: Promise<void> | null = null;
  let failed: Error | null = null;

  const check = (): void => {
    if (failed) throw failed;
  };

  const sync = async (): Promise<void> => {
    while (unsynced && !failed) {
      unsynced = false;
      failed = await new Promise((resolve) => fdatasync(fd, resolve));
      // A concurrent write reused the slot that was being synced, so the slot may not be durable.
      if (!unsynced) slot = otherThan(slot);
    }
    syncing = null;
  };

  return {
    check,
    write(next) {
      check();
      writeSlot(fd, slot, next);
      unsynced = true;
      syncing ??= sync();
    },
    async close() {
      await syncing;
      closeSync(fd);
    },
  };
}

const otherThan = (slot: Slot): Slot => (slot === 0 ? 1 : 0);

/** Number of frames that justifies the syncs of a checkpoint. */
const longFrames = 4_000;
const saltBytes = 8;

/**
 * Detects a long write-ahead log. https://sqlite.org/fileformat2.html#walformat: every frame repeats the salt
 * of the header, and the salt changes when the log restarts, so one frame shows if the current log extends
 * that far.
 */
interface WalGauge {
  isLong(): boolean;
  /**
   * @param frames frames in the log; the log counts as long again after another `longFrames` frames, or after it has restarted and reached
   *   that length
   */
  checkpointed(frames: number): void;
  close(): void;
}

function openWalGauge(path: string, pageBytes: number): WalGauge {
  const fd = openSync(path, 'r');
  const salt = Buffer.alloc(saltBytes);
  const read = Buffer.alloc(saltBytes);
  const saltAt = (at: number): Buffer | null =>
    readSync(fd, read, 0, saltBytes, at) === saltBytes ? read : null;
  let longAt = longFrames;
  return {
    isLong() {
      const now = saltAt(16);
      if (now && !now.equals(salt)) {
        now.copy(salt);
        longAt = longFrames;
      }
      const lastFrameAt = headerBytes + (longAt - 1) * (frameHeaderBytes + pageBytes);
      return saltAt(lastFrameAt + 8)?.equals(salt) ?? false;
    },
    checkpointed: (frames) => void (longAt = frames + longFrames),
    close: () => closeSync(fd),
  };
}
