// A file of an earlier version cannot give deleted pages back to the disk: it is written anew once, in one transaction, so that a start
// which is killed meanwhile leaves it as it was.
import Database from 'libsql';
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isEngineError } from './engine-errors.ts';
import { closeFolded } from './integrity/close-folded.ts';
import { readOnlyUri } from './integrity/uri.ts';

/** `problem`: the file stays as it is, and works; the next start tries again. */
export type Shrinkable = 'already' | 'made' | { readonly problem: string };

/** A copy of the file while it is written anew, the log with all of it, what is put aside of that, and something for everything else. */
const copies = { alone: 2, putAside: 3 };
const spareBytes = 64 * 1024 * 1024;
const incremental = 2;

interface ShrinkableOptions {
  /** Of the disk that a path lies on. */
  readonly freeBytes?: (path: string) => number;
  /** Called before the log is folded into the file, and puts aside all that is in it. */
  readonly beforeFold?: (db: Database.Database) => void;
}

export function makeShrinkable(path: string, options: ShrinkableOptions = {}): Shrinkable {
  const { freeBytes = freeBytesOf, beforeFold } = options;
  if (isShrinkable(path)) return 'already';
  const db = new Database(path);
  try {
    const needed = (beforeFold ? copies.putAside : copies.alone) * statSync(path).size + spareBytes;
    const free = freeBytes(path);
    if (free < needed)
      return { problem: left(path, `that needs ${mib(needed)} of free space, and there are ${mib(free)}`) };
    // The copy lies where there is room, rather than in a folder of temporary files in memory.
    db.prepare(`PRAGMA temp_store_directory = '${dirname(path).replaceAll("'", "''")}'`).all();
    for (const pragma of ['wal_autocheckpoint = 0', 'auto_vacuum = INCREMENTAL'])
      db.prepare(`PRAGMA ${pragma}`).all();
    db.exec('VACUUM');
    return 'made';
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return { problem: left(path, error.message) };
  } finally {
    beforeFold?.(db);
    closeFolded(db, path);
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
  `${path} does not get smaller when things are deleted until it has been written anew, and ${reason}. The next start tries again.`;
