// Closes the only writing connection outside a running server. Checkpoints first, because SQLite would checkpoint on the last close without
// updating the page checksums.
import type Database from 'libsql';
import { existsSync } from 'node:fs';
import { openCheckpointer } from './checkpointer.ts';

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
