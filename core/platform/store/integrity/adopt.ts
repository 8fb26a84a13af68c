// Adopts a database file into a data directory: checkpoints its log, and recreates log head, page checksums and identity from its
// content. Used at the end of a restore, and when the operator accepts a copy. The caller holds the lock of `openDataDir`, so no server has
// the directory open.
import Database from 'libsql';
import { join } from 'node:path';
import { resetLogHead, type LogHead } from '../log-head.ts';
import { openPageFile } from './pages/page-file.ts';
import { writeIdentity } from './identity.ts';
import { dropSums, makeSums, writeSums } from './pages/page-sums.ts';

/** Does not check the content; call `checkWhole` first. @throws Error if the file is not a database of Tatami */
export function adoptDatabase(dir: string): void {
  const database = join(dir, 'tatami.db');
  const logHead = join(dir, 'log-head');
  // The checksums are dropped first: if the process is killed later, old checksums would report damage.
  dropSums(database);
  const head = checkpointAll(database);
  resetLogHead(logHead, head);
  writeSums(database, sumsOfFile(database));
  writeIdentity(join(dir, 'identity'), { database, logHead }, 'closed', head);
}

/** Checkpoints the whole log. @returns the log head in the database */
function checkpointAll(database: string): LogHead {
  const db = new Database(database);
  try {
    db.prepare('PRAGMA journal_mode = WAL').all();
    db.prepare('PRAGMA synchronous = FULL').all();
    const [head] = db.prepare('SELECT position, hash FROM log_head WHERE id = 1').all() as LogHead[];
    if (!head) throw new Error(`${database} has no log head: it was not made by Tatami. Restore a backup.`);
    db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    return { position: head.position, hash: head.hash };
  } finally {
    db.close();
  }
}

/** Returns checksums of all pages of the file. A page with a frame in the log gets its checksum at the checkpoint. */
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
