// Maintains the read snapshot of the event loop: the state after the last group that the loop has processed.
// The writer thread commits concurrently; without the snapshot, a read between a commit and its message would
// be ahead of every cache, and consecutive reads could return two states. docs/decisions/0018.
import type Database from 'libsql';
import { isEngineError } from './engine-errors.ts';

export interface Snapshot {
  /** Moves the read snapshot to the latest commit. Must not run while a commit is in flight. */
  moveOn(): void;
  /** Ends the snapshot. A checkpoint is complete only if no snapshot is older than the end of the log. */
  release(): void;
}

/** @param db read-only connection */
export function holdSnapshot(db: Database.Database): Snapshot {
  const begin = db.prepare('BEGIN');
  const end = db.prepare('COMMIT');
  // The snapshot of a transaction is that of its first read.
  const look = db.prepare('SELECT 1 FROM log_head').raw(true);

  const release = (): void => {
    if (db.inTransaction) end.run();
  };
  const moveOn = (): void => {
    try {
      release();
      begin.run();
      look.all([]);
    } catch (error) {
      // The next read reports the error.
      if (!isEngineError(error)) throw error;
    }
  };
  moveOn();
  return { moveOn, release };
}
