// What the event loop sees of the file: the state after the last group that it has heard of, and no later one. The writer thread commits
// beside it, so that a read between a commit and its message would be ahead of every cache; and reads that follow one another without
// a pause would see two states. docs/decisions/0018.
import type Database from 'libsql';
import { isEngineError } from './engine-errors.ts';

export interface Snapshot {
  /** On to what is committed now. To be called while nobody commits. */
  moveOn(): void;
  /** The log can be folded in only where nobody holds to what is before its end. */
  release(): void;
}

/** @param db is only for reading */
export function holdSnapshot(db: Database.Database): Snapshot {
  const begin = db.prepare('BEGIN');
  const end = db.prepare('COMMIT');
  // A transaction sees what was there when it first read.
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
      // Whoever reads next is told what is wrong with the file.
      if (!isEngineError(error)) throw error;
    }
  };
  moveOn();
  return { moveOn, release };
}
