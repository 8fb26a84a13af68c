// What libsql throws, sorted by whom it concerns: one job (a broken rule, a value a function cannot take) or the store
// (disk, lock, damage). The codes are SQLite's extended result codes, https://sqlite.org/rescode.html.
import { StoreError } from './store.ts';

export function isEngineError(error: unknown): error is Error & { code: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('SQLITE')
  );
}

/** SQLite's word for it, or the system's. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(SQLITE_FULL|ENOSPC$)/.test(String(error.code));
}

/** True for errors that say something about the file, its disk or its lock, and so about every job of the group. */
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

/** SQLite met something that it did not write, or that the disk cannot read. */
export function showsDamage(error: unknown): boolean {
  return isEngineError(error) && /^SQLITE_(CORRUPT|NOTADB|IOERR_READ)/.test(error.code);
}

const unwritable = ['EROFS', 'EACCES', 'EPERM'];
const noRoom = ['ENOSPC', 'EDQUOT'];

/** Of the system's errors when a file is written. */
export function diskFaultOf(error: unknown): StoreError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (noRoom.includes(code)) return new StoreError('full', 'The disk is full.', error);
  if (unwritable.includes(code))
    return new StoreError('read_only', 'The data directory cannot be written.', error);
  return faultOf(error);
}

/** The fault of a group that failed as a whole. Whatever is not known to be harmless is `broken`. */
export function faultOf(error: unknown): StoreError {
  if (!isEngineError(error))
    return new StoreError('broken', error instanceof Error ? error.message : String(error), error);
  if (/^SQLITE_(BUSY|LOCKED)/.test(error.code))
    return new StoreError('busy', 'The database is locked by another process.', error);
  if (error.code.startsWith('SQLITE_FULL')) return new StoreError('full', 'The disk is full.', error);
  // The shared index beside the log says in its own way that it cannot grow. A disk that turned read-only under open files
  // refuses the write itself.
  if (error.code.startsWith('SQLITE_IOERR_SHMSIZE'))
    return new StoreError('full', 'The disk is full.', error);
  if (/^SQLITE_(READONLY|CANTOPEN|IOERR_WRITE)/.test(error.code))
    return new StoreError('read_only', 'The database cannot be written.', error);
  if (showsDamage(error)) return new StoreError('damaged', 'The database is damaged.', error);
  return new StoreError('broken', error.message, error);
}
