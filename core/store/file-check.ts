// Looks into a database file that nobody has open, without changing it.
import Database from 'libsql';
import { immutableUri } from './integrity/uri.ts';
import type { LogHead } from './log-head.ts';

export interface FileFacts {
  /** What SQLite finds wrong with the file; empty where nothing is. */
  readonly faults: readonly string[];
  /** Of the log head; null in a file that Tatami did not make, or that is too damaged to say. */
  readonly head: LogHead | null;
  readonly generation: string | null;
}

/** @param path of a file whose log was folded in. @throws what libsql throws where it is no database */
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
