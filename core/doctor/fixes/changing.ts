// The one way for a fix to change the database: through a connection that alone may write, whose log is folded in with the checksums of
// what changed.
import Database from 'libsql';
import { closeFolded } from '../../store/integrity/close-folded.ts';
import type { Subject } from '../subject.ts';

export function changing<T>({ path }: Subject, change: (db: Database.Database) => T): T {
  const db = new Database(path.database);
  try {
    for (const pragma of ['synchronous = FULL', 'wal_autocheckpoint = 0'])
      db.prepare(`PRAGMA ${pragma}`).all();
    return change(db);
  } finally {
    closeFolded(db, path.database);
  }
}
