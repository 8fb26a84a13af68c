// Folds the write-ahead log into the database file and keeps the checksums of its pages in step. A page gets its checksum from the log,
// which holds what was to be written, and before the log may begin anew: a crash between the two leaves the log, and what lies
// there is not verified. docs/decisions/0023.
import type Database from 'libsql';
import { closeSync, openSync } from 'node:fs';
import { isEngineError } from '../engine-errors.ts';
import { hasSums, keepSums, type KeptSums, type PageSums } from './page-sums.ts';
import { eachFrame, pagesAfter, readWalLog, saltOf } from './wal-log.ts';

interface Folded {
  /** Frames in the log. */
  readonly frames: number;
  /** Frames of these that are in the file. */
  readonly folded: number;
}

export interface Folding {
  /** @returns the frames of the log. What it could not do is done by a later one. */
  fold(): number;
  /** To be called before anything is written: it may overwrite the log. @throws what writing checksums failed with before, and again */
  settle(): void;
  /** Null while they are behind the file, or where there are none. */
  sums(): PageSums | null;
  /** @returns whether all is in the file, with its checksums, and the log is empty */
  foldAll(): boolean;
  close(): void;
}

export function openFolding(db: Database.Database, database: string, pageBytes: number): Folding {
  const walFd = openSync(`${database}-wal`, 'r');
  const sums = hasSums(database) ? keepSums(database) : null;
  // A crash while the log was folded in may have left half of such a page in the file.
  for (const page of readWalLog(`${database}-wal`)?.frameOf.keys() ?? []) sums?.unset(page);
  let unrecorded: Folded | null = null;
  let recorded: Recorded | null = null;

  const settle = (): void => {
    if (!unrecorded || !sums) return;
    recorded = record(sums, { walFd, pageBytes }, unrecorded, recorded);
    unrecorded = null;
  };
  const fold = (): Folded | null => {
    const done = checkpoint(db, 'PASSIVE');
    if (done) unrecorded = done;
    // A full disk may have taken some of the pages, or half of one. They are read from the log until a later checkpoint writes them all.
    else for (const page of pagesAfter(walFd, pageBytes, foldedOf(walFd, recorded))) sums?.unset(page);
    try {
      settle();
    } catch {
      // The next write tries again, and is refused where it cannot be done.
    }
    return done;
  };

  return {
    fold: () => fold()?.frames ?? 0,
    settle,
    sums: () => (unrecorded ? null : sums),
    foldAll() {
      const done = fold();
      if (!done || unrecorded || done.folded < done.frames) return false;
      return checkpoint(db, 'TRUNCATE') !== null;
    },
    close() {
      sums?.close();
      closeSync(walFd);
    },
  };
}

function checkpoint(db: Database.Database, mode: 'PASSIVE' | 'TRUNCATE'): Folded | null {
  try {
    const [done] = db.prepare(`PRAGMA wal_checkpoint(${mode})`).all() as {
      busy: number;
      log: number;
      checkpointed: number;
    }[];
    return done && done.log >= 0 ? { frames: done.log, folded: done.checkpointed } : null;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return null;
  }
}

/** What is noted of the log, so that no frame is looked at twice. */
interface Recorded {
  /** Changes when the log begins anew. */
  readonly salt: bigint;
  readonly folded: number;
}

/** Frames of the log of now that are in the file, with their checksums. */
const foldedOf = (walFd: number, recorded: Recorded | null): number =>
  recorded?.salt === saltOf(walFd) ? recorded.folded : 0;

/** @returns what is recorded now */
function record(
  sums: KeptSums,
  { walFd, pageBytes }: { walFd: number; pageBytes: number },
  { frames, folded }: Folded,
  before: Recorded | null,
): Recorded {
  const from = foldedOf(walFd, before);
  if (folded > from) {
    /** Null where the page is in the log once more, behind what was folded in: the file still holds what it held before. */
    const sumOf = new Map<number, number | null>();
    let pages = 0;
    eachFrame(walFd, pageBytes, [from + 1, frames], (frame, header, content) => {
      sumOf.set(header.readUInt32BE(0), frame <= folded ? Bun.hash.crc32(content) : null);
      pages = header.readUInt32BE(4) || pages;
      return true;
    });
    if (folded === frames) sums.resize(pages);
    for (const [page, sum] of sumOf) if (sum !== null && page <= pages) sums.set(page, sum);
    sums.flush();
  }
  return { salt: saltOf(walFd), folded };
}
