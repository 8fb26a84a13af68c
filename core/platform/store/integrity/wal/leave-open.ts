// Leaves a connection open whose checksums could not be updated: on the last close SQLite would checkpoint without updating them. The
// process exit ends it as in a crash, and the log remains for the next start.
import type Database from 'libsql';

const leftOpen = new Set<Database.Database>();

export function leaveOpen(db: Database.Database): void {
  if (db.inTransaction) db.exec('ROLLBACK');
  leftOpen.add(db);
}
