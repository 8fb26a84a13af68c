// Reads database pages without SQLite, with or without the write-ahead log, and describes a disk that lacks
// space or cannot be written. SQLite must not have the file open in this process, because closing any
// descriptor of a file drops all locks on it.
import { closeSync, existsSync, fstatSync, openSync, readSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { newPageBytes } from './page-sums.ts';
import { frameContentAt, readWalLog, type WalLog } from './wal-log.ts';

const magic = 'SQLite format 3\0';

const chunkBytes = 1024 * 1024;

interface DatabaseHeader {
  readonly pageBytes: number;
  /** Number of pages according to the header. */
  readonly pages: number;
  /** `PRAGMA user_version`. */
  readonly schema: number;
}

/** @param content reused after the call; null if the disk cannot read it */
type EachPage = (page: number, content: Buffer | null) => void;

export interface PageFile {
  readonly log: WalLog | null;
  readonly pageBytes: number;
  /** Number of pages in the file, including a partial last page. */
  readonly pagesInFile: number;
  /** Returns the header, from the log if it contains page 1; null if it is invalid. */
  header(): DatabaseHeader | null;
  /** Returns the page, from the log if it contains the page; null if it does not exist or cannot be read. */
  read(page: number): Buffer | null;
  /** Calls `each` for all pages of the file in order, ignoring the log. */
  eachInFile(each: EachPage): void;
  close(): void;
}

/** @param known page size, if known from elsewhere, and a descriptor of the file that outlives this object */
export function openPageFile(
  database: string,
  known: { pageBytes?: number | null; fd?: number } = {},
): PageFile {
  const log = readWalLog(`${database}-wal`);
  const fd = known.fd ?? openSync(database, 'r');
  const walFd = log ? openSync(`${database}-wal`, 'r') : null;
  const first = Buffer.alloc(100);
  readOrNull(fd, first, 100, 0);
  const pageBytes = known.pageBytes ?? log?.pageBytes ?? headerOf(first)?.pageBytes ?? newPageBytes;
  const pagesInFile = Math.ceil(fstatSync(fd).size / pageBytes);

  const read = (page: number): Buffer | null => {
    const content = Buffer.alloc(pageBytes);
    const frame = log?.frameOf.get(page);
    const got =
      frame !== undefined && walFd !== null
        ? readOrNull(walFd, content, pageBytes, frameContentAt(frame, pageBytes))
        : readOrNull(fd, content, pageBytes, (page - 1) * pageBytes);
    return got === pageBytes ? content : null;
  };

  return {
    log,
    pageBytes,
    pagesInFile,
    header: () => headerOf(read(1) ?? Buffer.alloc(100)),
    read,
    eachInFile: (each) => eachPage(fd, pageBytes, each),
    close() {
      if (known.fd === undefined) closeSync(fd);
      if (walFd !== null) closeSync(walFd);
    },
  };
}

function eachPage(fd: number, pageBytes: number, each: EachPage): void {
  const chunk = Buffer.alloc(chunkBytes);
  const { size } = fstatSync(fd);
  for (let start = 0; start < size; start += chunkBytes) {
    const wanted = Math.min(chunkBytes, size - start);
    // A read ends early before an unreadable sector.
    const isRead = readOrNull(fd, chunk, wanted, start) === wanted;
    for (let at = 0; at < wanted; at += pageBytes) {
      const content = chunk.subarray(at, Math.min(at + pageBytes, wanted));
      const got = isRead ? content.length : readOrNull(fd, content, content.length, start + at);
      each((start + at) / pageBytes + 1, got === null ? null : content.subarray(0, got));
    }
  }
}

/** https://sqlite.org/fileformat2.html#the_database_header */
function headerOf(page: Buffer): DatabaseHeader | null {
  if (page.toString('latin1', 0, 16) !== magic) return null;
  const stored = page.readUInt16BE(16);
  return {
    pageBytes: stored === 1 ? 65_536 : stored,
    pages: page.readUInt32BE(28),
    schema: page.readUInt32BE(60),
  };
}

/**
 * Reads from a disk that may be failing: an unreadable sector counts as damaged content.
 * @returns the number of bytes read, which is smaller at the end of the file or before an unreadable page; null if the disk cannot read
 *   there
 */
export function readOrNull(fd: number, into: Buffer, bytes: number, at: number): number | null {
  try {
    return readSync(fd, into, 0, bytes, at);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EIO') return null;
    throw error;
  }
}

const reasons: Readonly<Record<string, string>> = {
  EROFS: 'it is on a read-only file system',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
};

/** Returns the free space of the file system of a path, which need not exist yet; null if the system does not report it. */
export function freeBytes(path: string): number | null {
  if (!existsSync(path) && dirname(path) !== path) return freeBytes(dirname(path));
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** @param what subject of the sentence @throws Error if less space is free than needed */
export function requireSpace(folder: string, neededBytes: number, what: string): void {
  const free = freeBytes(folder);
  const text = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;
  if (free !== null && free < neededBytes)
    throw new Error(
      `${what} in ${folder} needs up to ${text(neededBytes)} of free space, but only ${text(free)} are free. ` +
        'Free some space, or choose a folder on another disk.',
    );
}

/** Describes a directory that cannot be written: path, reason and free space. */
export function describeUnwritable(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const free = freeBytes(path);
  const freeText = free === null ? '' : ` (${megabytes(free)} free)`;
  return `${path} cannot be written: ${reasons[code] ?? (error instanceof Error ? error.message : String(error))}${freeText}.`;
}

export const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
