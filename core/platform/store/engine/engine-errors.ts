// Classifies errors of libsql: those that concern one job (a constraint, an invalid value) and those that concern the store (disk, lock,
// damage). Codes are SQLite's extended result codes, https://sqlite.org/rescode.html.
import { StoreError } from '../store.ts';

export function isEngineError(error: unknown): error is Error & { code: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('SQLITE')
  );
}

/** Recognizes the codes of both SQLite and the system. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(SQLITE_FULL|ENOSPC$)/.test(String(error.code));
}

/** Returns true for errors of the file, its disk or its lock, which therefore affect every job of the group. */
export function concernsStore(error: unknown): boolean {
  return (
    isEngineError(error) &&
    /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|PROTOCOL|NOMEM|INTERRUPT|INTERNAL)/.test(
      error.code,
    )
  );
}

export function constraintOf(error: unknown): 'duplicate' | 'constraint' | null {
  if (!isEngineError(error) || !error.code.startsWith('SQLITE_CONSTRAINT')) return null;
  return /UNIQUE|PRIMARYKEY/.test(error.code) ? 'duplicate' : 'constraint';
}

/** Returns true if SQLite found content that it did not write, or that the disk cannot read. */
export function showsDamage(error: unknown): boolean {
  return isEngineError(error) && /^SQLITE_(CORRUPT|NOTADB|IOERR_READ)/.test(error.code);
}

const unwritable = ['EROFS', 'EACCES', 'EPERM'];
const diskFull = ['ENOSPC', 'EDQUOT'];

/** Maps a system error of a file write to a StoreError. */
export function diskFaultOf(error: unknown): StoreError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (diskFull.includes(code)) return new StoreError('full', 'The disk is full. Free some space.', error);
  if (unwritable.includes(code))
    return new StoreError(
      'read_only',
      'The data directory cannot be written. Make it writable for the server.',
      error,
    );
  return faultOf(error);
}

/** Maps the error of a group that failed as a whole. An error not known to be harmless is `broken`. */
export function faultOf(error: unknown): StoreError {
  if (!isEngineError(error))
    return new StoreError('broken', error instanceof Error ? error.message : String(error), error);
  if (/^SQLITE_(BUSY|LOCKED)/.test(error.code))
    return new StoreError('busy', 'The database is locked by another process. Stop that process.', error);
  if (error.code.startsWith('SQLITE_FULL'))
    return new StoreError('full', 'The disk is full. Free some space.', error);
  // The shared-memory index of the WAL reports a full disk with a different code. If a disk becomes read-only
  // while the file is open, the write fails with SQLITE_IOERR_WRITE.
  if (error.code.startsWith('SQLITE_IOERR_SHMSIZE'))
    return new StoreError('full', 'The disk is full. Free some space.', error);
  if (/^SQLITE_(READONLY|CANTOPEN|IOERR_WRITE)/.test(error.code))
    return new StoreError(
      'read_only',
      'The database cannot be written. Check the disk and the permissions of the files.',
      error,
    );
  if (showsDamage(error))
    return new StoreError('damaged', 'The database is damaged. Restore a backup.', error);
  return new StoreError('broken', error.message, error);
}
