// Opens the data directory: exclusive lock, master key, and paths. The lock is flock(2), so a killed process leaves no stale lock. libsql's
// bundled SQLite loses commits when two processes checkpoint at once, so a second opener is refused rather than warned.
import { dlopen } from 'bun:ffi';
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { diskFaultOf } from '../engine/engine-errors.ts';
import { describeUnwritable } from '../integrity/page-file.ts';
import { checkPrivate, makePrivateDir, requireOwner } from './private.ts';
import { writeWholeFile } from './installation.ts';

export interface DataDir {
  readonly path: string;
  readonly database: string;
  readonly logHead: string;
  readonly snapshots: string;
  /** Folder of WAL segments that the continuous copy has not sent yet. */
  readonly walArchive: string;
  /** Folder of file contents. */
  readonly blobs: string;
  /** 32 bytes, generated at the first start. */
  readonly masterKey: Uint8Array;
  readonly keyFile: string;
  /** True if this start generated the master key. */
  readonly created: boolean;
  release(): void;
}

/**
 * @throws Error if the directory belongs to another user, is accessible to others, or is locked by another process, or if its master key is
 *   unreadable
 */
export function openDataDir(path: string): DataDir {
  const snapshots = join(path, 'snapshots');
  const walArchive = join(path, 'spool');
  explainingFault(path, () => makePrivateDir(path));
  requireOwner(path);
  checkPrivate(path, [snapshots, walArchive]);
  const release = lock(join(path, 'lock'), path);
  try {
    const keyFile = join(path, 'master.key');
    const database = join(path, 'tatami.db');
    const created = !existsSync(keyFile);
    if (created && existsSync(database))
      throw new Error(
        `${keyFile} is missing, but the database exists. Restore the key file: without it no stored secret can be read.`,
      );
    if (created)
      explainingFault(path, () => writeWholeFile(keyFile, `${randomBytes(32).toString('base64')}\n`));
    const masterKey = new Uint8Array(Buffer.from(readFileSync(keyFile, 'utf8').trim(), 'base64'));
    if (masterKey.length !== 32)
      throw new Error(`${keyFile} must contain 32 bytes in base64. Restore the key file from your copy.`);
    return {
      path,
      database,
      logHead: join(path, 'log-head'),
      snapshots,
      walArchive,
      blobs: join(path, 'blobs'),
      masterKey,
      keyFile,
      created,
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;

/** @throws Error that explains why nothing can be created there, in place of the system's error code */
function explainingFault(dir: string, make: () => void): void {
  try {
    make();
  } catch (error) {
    if (diskFaultOf(error).fault === 'broken') throw error;
    throw new Error(`${describeUnwritable(dir, error)} Choose a writable location for the data directory.`, {
      cause: error,
    });
  }
}

/** Returns true if the lock was acquired. Closing the descriptor releases it. */
function takeLock(fd: number, how: number): boolean {
  const libc = dlopen(process.platform === 'darwin' ? 'libSystem.dylib' : 'libc.so.6', {
    flock: { args: ['i32', 'i32'], returns: 'i32' },
  });
  return libc.symbols.flock(fd, how | LOCK_NB) === 0;
}

/** Returns the id of the process that holds the lock of a directory; null if it is not locked. */
export function holderOf(dir: string): string | null {
  const file = join(dir, 'lock');
  if (!existsSync(file)) return null;
  const fd = openSync(file, 'r');
  try {
    return takeLock(fd, LOCK_SH) ? null : readFileSync(file, 'utf8').trim() || 'unknown';
  } finally {
    closeSync(fd);
  }
}

function lock(file: string, dir: string): () => void {
  const locked = tryLock(file);
  if ('release' in locked) return locked.release;
  throw new Error(
    `${dir} is in use by process ${locked.lockedBy}. Stop it first, or choose another --data-dir.`,
  );
}

/**
 * Acquires the lock of a file, or returns the process id of its holder. The lock ends with its process. A read-only descriptor locks as
 * well, which serves read-only file systems.
 */
export function tryLock(file: string): { release(): void } | { lockedBy: string } {
  const { fd, isWritable } = openLockFile(file);
  if (!takeLock(fd, LOCK_EX)) {
    const holder = readFileSync(file, 'utf8').trim();
    closeSync(fd);
    return { lockedBy: holder || 'unknown' };
  }
  if (isWritable) noteHolder(fd);
  let isLocked = true;
  return {
    release() {
      if (isLocked) closeSync(fd);
      isLocked = false;
    },
  };
}

function openLockFile(file: string): { fd: number; isWritable: boolean } {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
  try {
    // The backup folder may be shared: following a symbolic link there could truncate another file of this user.
    const isNew = !existsSync(file);
    const fd = openSync(file, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
    fchmodSync(fd, 0o600);
    if (isNew) giveToOwner(fd, dirname(file));
    return { fd, isWritable: true };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ELOOP')
      throw new Error(`${file} is a symbolic link, but must be a regular file. Remove the link.`, {
        cause: error,
      });
    if (diskFaultOf(error).fault === 'broken') throw error;
    if (!existsSync(file)) throw new Error(describeUnwritable(dirname(file), error), { cause: error });
    return { fd: openSync(file, O_RDONLY | O_NOFOLLOW), isWritable: false };
  }
}

/** If root makes a backup of another user's directory, that user must be able to open the lock file afterwards. */
function giveToOwner(fd: number, dir: string): void {
  const { uid, gid } = statSync(dir);
  if (process.geteuid?.() === 0 && uid !== 0) fchownSync(fd, uid, gid);
}

function noteHolder(fd: number): void {
  try {
    ftruncateSync(fd, 0);
    writeSync(fd, `${process.pid}\n`);
  } catch (error) {
    // On a full disk the file cannot name the holder.
    if (diskFaultOf(error).fault === 'broken') throw error;
  }
}
