// Reads the write-ahead log as SQLite would recover it: the pages that have a frame in its valid, committed
// part. Readers take these pages from the log, so the copies in the database file are not verified.
// https://sqlite.org/fileformat2.html#walformat
import { closeSync, fstatSync, readSync } from 'node:fs';
import { frameHeaderBytes, openWalFile, walHeaderBytes as headerBytes } from '../wal-format.ts';

const chunkFrames = 128;

export interface WalLog {
  readonly pageBytes: number;
  /** Number of frames up to the last commit. */
  readonly frames: number;
  /** Size of the database in pages after that commit. */
  readonly pages: number;
  /** Last frame by page. */
  readonly frameOf: ReadonlyMap<number, number>;
}

/** Returns null if there is no log, or no committed frame in it. */
export function readWalLog(path: string): WalLog | null {
  const fd = openWalFile(path);
  if (fd === null) return null;
  try {
    return recover(fd);
  } finally {
    closeSync(fd);
  }
}

type Sum = [number, number];

function recover(fd: number): WalLog | null {
  const header = Buffer.alloc(headerBytes);
  if (readSync(fd, header, 0, headerBytes, 0) < headerBytes) return null;
  const magic = header.readUInt32BE(0);
  const pageBytes = header.readUInt32BE(8);
  const isPowerOfTwo = (pageBytes & (pageBytes - 1)) === 0;
  if (magic >>> 1 !== 0x377f0682 >>> 1 || !isPowerOfTwo || pageBytes < 512 || pageBytes > 65_536) return null;
  const isBigEndian = (magic & 1) === 1;
  const sum: Sum = [0, 0];
  addTo(sum, header.subarray(0, 24), isBigEndian);
  if (!isSum(sum, header, 24)) return null;

  const frameOf = new Map<number, number>();
  let uncommitted: [page: number, frame: number][] = [];
  let pages = 0;
  let frames = 0;
  const last = Math.floor((fstatSync(fd).size - headerBytes) / (frameHeaderBytes + pageBytes));
  eachFrame(fd, pageBytes, [1, last], (frame, head, content) => {
    if (head.compare(header, 16, 24, 8, 16) !== 0) return false;
    addTo(sum, head.subarray(0, 8), isBigEndian);
    addTo(sum, content, isBigEndian);
    if (!isSum(sum, head, 16)) return false;
    uncommitted.push([head.readUInt32BE(0), frame]);
    const sizeAfter = head.readUInt32BE(4);
    if (sizeAfter === 0) return true;
    for (const [page, at] of uncommitted) frameOf.set(page, at);
    [uncommitted, pages, frames] = [[], sizeAfter, frame];
    return true;
  });
  return frames === 0 ? null : { pageBytes, frames, pages, frameOf };
}

function addTo(sum: Sum, bytes: Buffer, isBigEndian: boolean): void {
  let [a, b] = sum;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + view.getUint32(at, !isBigEndian) + b) | 0;
    b = (b + view.getUint32(at + 4, !isBigEndian) + a) | 0;
  }
  sum[0] = a;
  sum[1] = b;
}

const isSum = ([a, b]: Sum, bytes: Buffer, at: number): boolean =>
  bytes.readInt32BE(at) === a && bytes.readInt32BE(at + 4) === b;

/** Returns the file offset of a frame's content. */
export const frameContentAt = (frame: number, pageBytes: number): number =>
  headerBytes + (frame - 1) * (frameHeaderBytes + pageBytes) + frameHeaderBytes;

/** Returns the salt of the current log, which changes when the log restarts. */
export function saltOf(fd: number): bigint {
  const salt = Buffer.alloc(8);
  return readSync(fd, salt, 0, 8, 16) === 8 ? salt.readBigUInt64BE() : 0n;
}

/** Calls `each` with the frames in order until it returns false. `content` is reused after each call. */
export function eachFrame(
  fd: number,
  pageBytes: number,
  [from, last]: readonly [from: number, last: number],
  each: (frame: number, header: Buffer, content: Buffer) => boolean,
): void {
  const step = frameHeaderBytes + pageBytes;
  const chunk = Buffer.alloc(step * chunkFrames);
  for (let first = from; first <= last; first += chunkFrames) {
    const wanted = Math.min(chunkFrames, last - first + 1) * step;
    const got = readSync(fd, chunk, 0, wanted, headerBytes + (first - 1) * step);
    for (let at = 0; at + step <= got; at += step) {
      const header = chunk.subarray(at, at + frameHeaderBytes);
      if (!each(first + at / step, header, chunk.subarray(at + frameHeaderBytes, at + step))) return;
    }
    if (got < wanted) return;
  }
}

/**
 * Returns the pages of committed frames after `frame`, in a log that this process writes. Skips checksum verification, which takes ten
 * times as long.
 * @param frame 0 for all
 */
export function pagesAfter(fd: number, pageBytes: number, frame: number): ReadonlySet<number> {
  const salt = saltOf(fd);
  const committed = new Set<number>();
  let uncommitted: number[] = [];
  const last = Math.floor((fstatSync(fd).size - headerBytes) / (frameHeaderBytes + pageBytes));
  eachFrame(fd, pageBytes, [frame + 1, last], (_, header) => {
    if (header.readBigUInt64BE(8) !== salt) return false;
    uncommitted.push(header.readUInt32BE(0));
    if (header.readUInt32BE(4) === 0) return true;
    for (const page of uncommitted) committed.add(page);
    uncommitted = [];
    return true;
  });
  return committed;
}
