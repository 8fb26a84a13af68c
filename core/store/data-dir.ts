// The data directory: who may open it (one process), the master key, and the paths of what lives in it.
// The lock is flock(2), so a killed process leaves no stale lock; libsql's bundled SQLite loses commits when two
// processes checkpoint at once, so a second opener is refused rather than warned.
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
import { diskFaultOf } from './engine-errors.ts';
import { describeUnwritable } from './integrity/room.ts';
import { checkPrivate, makePrivateDir, requireOwner } from './private.ts';
import { writeWholeFile } from './whole-file.ts';

export interface DataDir {
  readonly path: string;
  readonly database: string;
  readonly logHead: string;
  readonly snapshots: string;
  /** Where the continuous copy puts aside what was not sent yet. */
  readonly spool: string;
  /** The contents of files. */
  readonly blobs: string;
  /** 32 bytes; made at the first start. */
  readonly masterKey: Uint8Array;
  readonly keyFile: string;
  /** True when this start made the directory's master key. */
  readonly created: boolean;
  release(): void;
}

/** @throws Error when the directory belongs to another user, others may look into it, another process holds it, or its master key is unreadable. */
export function openDataDir(path: string): DataDir {
  const snapshots = join(path, 'snapshots');
  const spool = join(path, 'spool');
  inPlace(path, () => makePrivateDir(path));
  requireOwner(path);
  checkPrivate(path, [snapshots, spool]);
  const release = lock(join(path, 'lock'), path);
  try {
    const keyFile = join(path, 'master.key');
    const database = join(path, 'tatami.db');
    const created = !existsSync(keyFile);
    if (created && existsSync(database))
      throw new Error(
        `${keyFile} is missing, but the database exists: put the key back; without it no stored secret can be read.`,
      );
    if (created) inPlace(path, () => writeWholeFile(keyFile, `${randomBytes(32).toString('base64')}\n`));
    const masterKey = new Uint8Array(Buffer.from(readFileSync(keyFile, 'utf8').trim(), 'base64'));
    if (masterKey.length !== 32) throw new Error(`${keyFile} must hold 32 bytes in base64.`);
    return {
      path,
      database,
      logHead: join(path, 'log-head'),
      snapshots,
      spool,
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

/** @throws Error that says why nothing new can be made there, instead of the system's code */
function inPlace(dir: string, make: () => void): void {
  try {
    make();
  } catch (error) {
    if (diskFaultOf(error).fault === 'broken') throw error;
    throw new Error(
      `${describeUnwritable(dir, error)} A new data directory needs a place that can be written.`,
      {
        cause: error,
      },
    );
  }
}

/** True when it was to be had. Closing the descriptor gives it back. */
function takeLock(fd: number, how: number): boolean {
  const libc = dlopen(process.platform === 'darwin' ? 'libSystem.dylib' : 'libc.so.6', {
    flock: { args: ['i32', 'i32'], returns: 'i32' },
  });
  return libc.symbols.flock(fd, how | LOCK_NB) === 0;
}

/** The number of the process that holds a directory; null where none does. */
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
    `${dir} is in use by process ${locked.heldBy}. Stop it first, or choose another --data-dir.`,
  );
}

/**
 * Takes the lock that the file stands for, or says who holds it. It is free again when its process ends, however that is. A descriptor
 * that cannot write locks just as well, where the file system takes no writes.
 */
export function tryLock(file: string): { release(): void } | { heldBy: string } {
  const { fd, isWritable } = openLockFile(file);
  if (!takeLock(fd, LOCK_EX)) {
    const holder = readFileSync(file, 'utf8').trim();
    closeSync(fd);
    return { heldBy: holder || 'unknown' };
  }
  if (isWritable) noteHolder(fd);
  let held = true;
  return {
    release() {
      if (held) closeSync(fd);
      held = false;
    },
  };
}

function openLockFile(file: string): { fd: number; isWritable: boolean } {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
  try {
    // The folder of backups may be shared: a link there could have another file of this user truncated.
    const isNew = !existsSync(file);
    const fd = openSync(file, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
    fchmodSync(fd, 0o600);
    if (isNew) giveToOwner(fd, dirname(file));
    return { fd, isWritable: true };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ELOOP')
      throw new Error(`${file} is a symbolic link, and must be a file of its own. Remove it.`, {
        cause: error,
      });
    if (diskFaultOf(error).fault === 'broken') throw error;
    if (!existsSync(file)) throw new Error(describeUnwritable(dirname(file), error), { cause: error });
    return { fd: openSync(file, O_RDONLY | O_NOFOLLOW), isWritable: false };
  }
}

/** A backup that root makes locks the directory of another user, who could not open a lock of root. */
function giveToOwner(fd: number, dir: string): void {
  const { uid, gid } = statSync(dir);
  if (process.geteuid?.() === 0 && uid !== 0) fchownSync(fd, uid, gid);
}

function noteHolder(fd: number): void {
  try {
    ftruncateSync(fd, 0);
    writeSync(fd, `${process.pid}\n`);
  } catch (error) {
    // On a full disk whoever is refused is not told by whom.
    if (diskFaultOf(error).fault === 'broken') throw error;
  }
}
