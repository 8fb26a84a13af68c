// Inspects a database file that no process has open, without changing it.
import Database from 'libsql';
import { immutableUri } from '../integrity/uri.ts';
import type { LogHead } from '../log-head.ts';

export interface FileFacts {
  /** Faults that SQLite finds in the file; empty if it is intact. */
  readonly faults: readonly string[];
  /** Log head of the database; null if Tatami did not make the file, or if it is too damaged to read. */
  readonly head: LogHead | null;
  readonly generation: string | null;
}

/** @param path file whose log was checkpointed. @throws libsql's error if the file is not a database */
export function checkFile(path: string): FileFacts {
  const db = new Database(immutableUri(path));
  try {
    const rows = db.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[];
    const faults = rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
    if (faults.length > 0) return { faults, head: null, generation: null };
    const [head] = db.prepare('SELECT position, hash FROM log_head').all() as LogHead[];
    const [row] = db.prepare('SELECT generation FROM installation').all() as { generation: string }[];
    return { faults, head: head ?? null, generation: row?.generation ?? null };
  } finally {
    db.close();
  }
}
