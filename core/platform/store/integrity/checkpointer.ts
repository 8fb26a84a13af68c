// Checkpoints the write-ahead log and updates the page checksums with it. A checksum is computed from the
// log, which holds the intended content, and is written before the log may restart: after a crash between the
// two the log still exists, and pages with a frame in it are not verified. docs/decisions/0023.
import { closeSync, existsSync, openSync } from 'node:fs';
import Database from 'libsql';
import { isEngineError } from '../engine/engine-errors.ts';
import { hasSums, openPageSums, type PageSums, type WritablePageSums } from './page-sums.ts';
import { eachFrame, pagesAfter, readWalLog, saltOf } from './wal-log.ts';

interface CheckpointProgress {
  /** Frames in the log. */
  readonly frames: number;
  /** Frames that are in the database file. */
  readonly checkpointed: number;
}

export interface Checkpointer {
  /**
   * Runs a passive checkpoint; a later one writes the frames that it could not.
   * @returns the number of frames in the log
   */
  checkpointPassive(): number;
  /**
   * Writes pending checksums. Must be called before any write, which may overwrite the log.
   * @throws the error of a repeated failure to write checksums
   */
  settle(): void;
  /** Returns the checksums; null while they are behind the file, or if there are none. */
  sums(): PageSums | null;
  /** Checkpoints everything. @returns true if the file and its checksums are complete and the log is empty */
  checkpointAll(): boolean;
  close(): void;
}

export function openCheckpointer(db: Database.Database, database: string, pageBytes: number): Checkpointer {
  const walFd = openSync(`${database}-wal`, 'r');
  const sums = hasSums(database) ? openPageSums(database) : null;
  // A crash during a checkpoint may have left a page of the log half written in the file.
  for (const page of readWalLog(`${database}-wal`)?.frameOf.keys() ?? []) sums?.unset(page);
  let unrecorded: CheckpointProgress | null = null;
  let recorded: Recorded | null = null;

  const settle = (): void => {
    if (!unrecorded || !sums) return;
    recorded = record(sums, { walFd, pageBytes }, unrecorded, recorded);
    unrecorded = null;
  };
  const checkpointPassive = (): CheckpointProgress | null => {
    const done = checkpoint(db, 'PASSIVE');
    if (done) unrecorded = done;
    // On a full disk, the file may contain only some of the pages, or half of a page. Reads use the log until a
    // later checkpoint writes them all.
    else for (const page of pagesAfter(walFd, pageBytes, checkpointedOf(walFd, recorded))) sums?.unset(page);
    try {
      settle();
    } catch {
      // The next write retries, and is rejected if that fails.
    }
    return done;
  };

  return {
    checkpointPassive: () => checkpointPassive()?.frames ?? 0,
    settle,
    sums: () => (unrecorded ? null : sums),
    checkpointAll() {
      const done = checkpointPassive();
      if (!done || unrecorded || done.checkpointed < done.frames) return false;
      return checkpoint(db, 'TRUNCATE') !== null;
    },
    close() {
      sums?.close();
      closeSync(walFd);
    },
  };
}

function checkpoint(db: Database.Database, mode: 'PASSIVE' | 'TRUNCATE'): CheckpointProgress | null {
  try {
    const [done] = db.prepare(`PRAGMA wal_checkpoint(${mode})`).all() as {
      busy: number;
      log: number;
      checkpointed: number;
    }[];
    return done && done.log >= 0 ? { frames: done.log, checkpointed: done.checkpointed } : null;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return null;
  }
}

/** Progress in the log, so that no frame is processed twice. */
interface Recorded {
  /** Salt of the log, which changes when the log restarts. */
  readonly salt: bigint;
  readonly checkpointed: number;
}

/** Returns the number of frames of the current log that are in the file with their checksums. */
const checkpointedOf = (walFd: number, recorded: Recorded | null): number =>
  recorded?.salt === saltOf(walFd) ? recorded.checkpointed : 0;

/** @returns the new progress */
function record(
  sums: WritablePageSums,
  { walFd, pageBytes }: { walFd: number; pageBytes: number },
  { frames, checkpointed }: CheckpointProgress,
  before: Recorded | null,
): Recorded {
  const from = checkpointedOf(walFd, before);
  if (checkpointed > from) {
    /**
     * Checksum by page; null if a later frame of the page is not checkpointed, so that the file has the
     * earlier content.
     */
    const sumOf = new Map<number, number | null>();
    let pages = 0;
    eachFrame(walFd, pageBytes, [from + 1, frames], (frame, header, content) => {
      sumOf.set(header.readUInt32BE(0), frame <= checkpointed ? Bun.hash.crc32(content) : null);
      pages = header.readUInt32BE(4) || pages;
      return true;
    });
    if (checkpointed === frames) sums.resize(pages);
    for (const [page, sum] of sumOf) if (sum !== null && page <= pages) sums.set(page, sum);
    sums.flush();
  }
  return { salt: saltOf(walFd), checkpointed };
}

/**
 * Closes the only writing connection outside a running server. Checkpoints first, because SQLite would
 * checkpoint on the last close without updating the page checksums.
 */
export function closeCheckpointed(db: Database.Database, path: string): void {
  if (!existsSync(`${path}-wal`)) return void db.close();
  const { page_size: pageBytes } = db.prepare('PRAGMA page_size').all()[0] as { page_size: number };
  const checkpointer = openCheckpointer(db, path, pageBytes);
  const isCheckpointed = checkpointer.checkpointAll();
  checkpointer.close();
  if (isCheckpointed) db.close();
  else leaveOpen(db);
}

const leftOpen = new Set<Database.Database>();

/**
 * Leaves a connection open whose checksums could not be updated: on the last close SQLite would checkpoint without updating them. The
 * process exit ends it as in a crash, and the log remains for the next start.
 */
export function leaveOpen(db: Database.Database): void {
  if (db.inTransaction) db.exec('ROLLBACK');
  leftOpen.add(db);
}
