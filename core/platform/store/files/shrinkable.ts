// Rewrites a database file of an earlier version, which cannot return free pages to the disk. A start does so
// once, in one transaction, so a start that is killed leaves the file unchanged.
import Database from 'libsql';
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isEngineError } from '../engine/engine-errors.ts';
import { closeCheckpointed } from '../integrity/wal/close-checkpointed.ts';
import { readOnlyUri } from '../integrity/uri.ts';

/** With a `problem` the file is unchanged and usable; the next start tries again. */
export type Shrinkable = 'already' | 'made' | { readonly problem: string };

/**
 * Required disk space as a multiple of the file size: 1 for the rewritten file, 1 for the WAL that contains all its pages, and 1 for the
 * archived segments if a continuous copy is configured. `spareBytes` covers everything else.
 */
const copies = { alone: 2, putAside: 3 };
const spareBytes = 64 * 1024 * 1024;
const incremental = 2;

interface ShrinkableOptions {
  /** Free bytes of the file system of a path. */
  readonly freeBytes?: (path: string) => number;
  /** Called before the log is checkpointed; archives all of its frames. */
  readonly beforeCheckpoint?: (db: Database.Database) => void;
}

export function makeShrinkable(path: string, options: ShrinkableOptions = {}): Shrinkable {
  const { freeBytes = freeBytesOf, beforeCheckpoint } = options;
  if (isShrinkable(path)) return 'already';
  const db = new Database(path);
  try {
    const needed = (beforeCheckpoint ? copies.putAside : copies.alone) * statSync(path).size + spareBytes;
    const free = freeBytes(path);
    if (free < needed)
      return {
        problem: left(
          path,
          `this needs ${mib(needed)} of free space, and there are ${mib(free)}: free some space`,
        ),
      };
    // The temporary copy is next to the database, because a temporary folder may be in memory.
    db.prepare(`PRAGMA temp_store_directory = '${dirname(path).replaceAll("'", "''")}'`).all();
    for (const pragma of ['wal_autocheckpoint = 0', 'auto_vacuum = INCREMENTAL'])
      db.prepare(`PRAGMA ${pragma}`).all();
    db.exec('VACUUM');
    return 'made';
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return { problem: left(path, error.message) };
  } finally {
    beforeCheckpoint?.(db);
    closeCheckpointed(db, path);
  }
}

function isShrinkable(path: string): boolean {
  const db = new Database(readOnlyUri(path));
  try {
    const { auto_vacuum: mode } = db.prepare('PRAGMA auto_vacuum').all()[0] as { auto_vacuum: number };
    return mode === incremental;
  } finally {
    db.close();
  }
}

function freeBytesOf(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

const mib = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MiB`;

const left = (path: string, reason: string): string =>
  `${path} cannot shrink after deletions until it has been rewritten, but ${reason}. The next start tries again.`;
