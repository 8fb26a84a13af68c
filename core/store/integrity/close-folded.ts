// Closes the only writing connection outside a running server. Checkpoints first, because SQLite would checkpoint on the last close without
// updating the page checksums.
import type Database from 'libsql';
import { existsSync } from 'node:fs';
import { openFolding } from './folding.ts';
import { leaveOpen } from './leave-open.ts';

export function closeFolded(db: Database.Database, path: string): void {
  if (!existsSync(`${path}-wal`)) return void db.close();
  const { page_size: pageBytes } = db.prepare('PRAGMA page_size').all()[0] as { page_size: number };
  const folding = openFolding(db, path, pageBytes);
  const isFolded = folding.foldAll();
  folding.close();
  if (isFolded) db.close();
  else leaveOpen(db);
}
