// Makes a database file a data directory's own: its log is folded in, and the head of the log, the checksums of its pages and the
// identity are made anew from what it holds. A restore ends so, and so does an operator's word that this copy is to go on.
// No server may have the directory open; `openDataDir` holds the lock that says so.
import Database from 'libsql';
import { join } from 'node:path';
import { resetLogHead, type LogHead } from '../log-head.ts';
import { openPageFile } from './page-file.ts';
import { writeIdentity } from './identity.ts';
import { dropSums, makeSums, writeSums } from './page-sums.ts';

/** @throws Error where the file is no database of Tatami's; look at what it holds first (`checkWhole`), for nothing is said of it here */
export function adoptDatabase(dir: string): void {
  const database = join(dir, 'tatami.db');
  const logHead = join(dir, 'log-head');
  // Killed from here on, checksums of what the pages held before would tell of damage.
  dropSums(database);
  const head = foldAll(database);
  resetLogHead(logHead, head);
  writeSums(database, sumsOfFile(database));
  writeIdentity(join(dir, 'identity'), { database, logHead }, 'closed', head);
}

/** As `adoptDatabase`, for a program of before there were checksums and identities, which would leave them behind what it writes. */
export function adoptForEarlier(dir: string): void {
  resetLogHead(join(dir, 'log-head'), foldAll(join(dir, 'tatami.db')));
}

/** Everything into the one file. @returns the head of the log that it holds */
function foldAll(database: string): LogHead {
  const db = new Database(database);
  try {
    db.prepare('PRAGMA journal_mode = WAL').all();
    db.prepare('PRAGMA synchronous = FULL').all();
    const [head] = db.prepare('SELECT position, hash FROM log_head WHERE id = 1').all() as LogHead[];
    if (!head) throw new Error(`${database} has no log head: it was not made by Tatami.`);
    db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    return { position: head.position, hash: head.hash };
  } finally {
    db.close();
  }
}

/** Checksums of all pages of the file. A page that lies in the log gets its own when the log is folded in. */
export function sumsOfFile(database: string): Buffer {
  const file = openPageFile(database);
  try {
    return makeSums(file.pageBytes, (add) =>
      file.eachInFile((page, content) => add(file.log?.frameOf.has(page) ? null : content)),
    );
  } finally {
    file.close();
  }
}
