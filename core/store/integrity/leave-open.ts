// Where the checksums could not be brought in step, the connection is not closed: as the last one SQLite would fold the log in behind their
// back. It ends with the process, as in a crash, and the log is there for the next start.
import type Database from 'libsql';

const leftOpen = new Set<Database.Database>();

export function leaveOpen(db: Database.Database): void {
  if (db.inTransaction) db.exec('ROLLBACK');
  leftOpen.add(db);
}
