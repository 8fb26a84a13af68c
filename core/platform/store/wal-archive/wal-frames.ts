// Reads committed frames of the write-ahead log without SQLite:
// https://sqlite.org/fileformat2.html#walformat. Each frame repeats the salt of its log and carries a
// checksum of all frames before it, so every frame read is proven to be part of that log.
import { closeSync, readSync } from 'node:fs';
import { frameHeaderBytes, openWalFile, walHeaderBytes as headerBytes } from '../wal-format.ts';

/** Checksums use the machine's byte order, little-endian here; a big-endian log has another magic number. */
const littleEndianMagic = 0x377f0682;
/** Number of frames per read. */
const blockFrames = 64;

/** Position in a log: after a committed frame, or at the start. */
export interface WalPosition {
  /** Salt of the log in hex; differs from that of the previous log. */
  readonly salt: string;
  /** Number of frames from the start of the log. */
  readonly frames: number;
  /** Checksum in hex of all frames up to the position. */
  readonly sum: string;
}

/** Content committed after a position. */
export interface CommittedFrames {
  readonly to: WalPosition;
  readonly pageBytes: number;
  /** Size of the database after the last commit; null if nothing was committed. */
  readonly dbPages: number | null;
  /** Offset in the log of the latest content of each written page. */
  readonly pages: ReadonlyMap<number, number>;
}

export interface Wal {
  readonly start: WalPosition;
  /** Returns true if this log contains the position. */
  reached(position: WalPosition): boolean;
  /** Reads from a position to the last frame that ends a commit. */
  committedSince(position: WalPosition): CommittedFrames;
  /** Fills `page` from an offset in `CommittedFrames.pages`. */
  readPage(at: number, page: Uint8Array): void;
  close(): void;
}

/** @returns null if there is no log, or nothing in it. @throws Error for a log of a machine with another byte order */
export function openWal(path: string): Wal | null {
  const fd = openWalFile(path);
  if (fd === null) return null;
  const header = Buffer.alloc(headerBytes);
  const start = readSync(fd, header, 0, headerBytes, 0) === headerBytes ? startOf(header) : null;
  if (!start) {
    closeSync(fd);
    return null;
  }
  const pageBytes = header.readUInt32BE(8);
  const frameBytes = frameHeaderBytes + pageBytes;
  const frameAt = (frame: number): number => headerBytes + frame * frameBytes;
  return {
    start,
    reached({ salt, frames, sum }) {
      if (salt !== start.salt) return false;
      if (frames === 0) return sum === start.sum;
      const frame = Buffer.alloc(frameHeaderBytes);
      return (
        readSync(fd, frame, 0, frameHeaderBytes, frameAt(frames - 1)) === frameHeaderBytes &&
        hex(frame, 8) === salt &&
        hex(frame, 16) === sum
      );
    },
    committedSince: (position) => walk({ fd, position, pageBytes, frameAt }),
    readPage(at, page) {
      if (readSync(fd, page, 0, pageBytes, at) !== pageBytes)
        throw new Error('The write-ahead log was truncated while it was read.');
    },
    close: () => closeSync(fd),
  };
}

/** Returns eight bytes in hex. */
const hex = (bytes: Buffer, at: number): string => bytes.toString('hex', at, at + 8);

/** Returns null for an incomplete header, after which no frame is valid. */
function startOf(header: Buffer): WalPosition | null {
  const magic = header.readUInt32BE(0);
  if (magic === littleEndianMagic + 1)
    throw new Error('The write-ahead log was written by a machine with another byte order.');
  const sums = new Uint32Array(2);
  addSum(words(header), 0, 6, sums);
  return magic === littleEndianMagic && sumText(sums) === hex(header, 24)
    ? { salt: hex(header, 16), frames: 0, sum: sumText(sums) }
    : null;
}

interface Walk {
  readonly fd: number;
  readonly position: WalPosition;
  readonly pageBytes: number;
  frameAt(frame: number): number;
}

function walk({ fd, position, pageBytes, frameAt }: Walk): CommittedFrames {
  const frameBytes = frameHeaderBytes + pageBytes;
  const block = Buffer.from(new ArrayBuffer(blockFrames * frameBytes));
  const blockWords = words(block);
  const salt = numbersOf(position.salt);
  const sums = Uint32Array.from(numbersOf(position.sum));
  const pages = new Map<number, number>();
  /** Page numbers and offsets, alternating, of the transaction that is not yet committed. */
  let open: number[] = [];
  let to = position;
  let dbPages: number | null = null;
  /** Verifies the frame at an offset of the block. @returns false if it is not part of this log */
  const isNext = (at: number): boolean => {
    if (block.readUInt32BE(at + 8) !== salt[0] || block.readUInt32BE(at + 12) !== salt[1]) return false;
    addSum(blockWords, at / 4, at / 4 + 2, sums);
    addSum(blockWords, (at + frameHeaderBytes) / 4, (at + frameBytes) / 4, sums);
    return block.readUInt32BE(at + 16) === sums[0] && block.readUInt32BE(at + 20) === sums[1];
  };
  for (let frame = position.frames; ;) {
    const read = Math.floor(readSync(fd, block, 0, block.length, frameAt(frame)) / frameBytes);
    for (let i = 0; i < read; i++, frame++) {
      const at = i * frameBytes;
      if (!isNext(at)) return { to, pageBytes, dbPages, pages };
      open.push(block.readUInt32BE(at), frameAt(frame) + frameHeaderBytes);
      const sizeAfter = block.readUInt32BE(at + 4);
      if (sizeAfter === 0) continue;
      for (let entry = 0; entry < open.length; entry += 2) pages.set(open[entry]!, open[entry + 1]!);
      open = [];
      dbPages = sizeAfter;
      to = { salt: position.salt, frames: frame + 1, sum: sumText(sums) };
    }
    if (read < blockFrames) return { to, pageBytes, dbPages, pages };
  }
}

const words = (bytes: Buffer): Uint32Array =>
  new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4));

/** The WAL checksum processes words in pairs. */
function addSum(of: Uint32Array, from: number, end: number, sums: Uint32Array): void {
  let a = sums[0]!;
  let b = sums[1]!;
  for (let i = from; i < end; i += 2) {
    a = (a + of[i]! + b) | 0;
    b = (b + of[i + 1]! + a) | 0;
  }
  sums[0] = a;
  sums[1] = b;
}

function sumText(sums: Uint32Array): string {
  const text = Buffer.alloc(8);
  text.writeUInt32BE(sums[0]!, 0);
  text.writeUInt32BE(sums[1]!, 4);
  return text.toString('hex');
}

/** Splits eight bytes in hex into two numbers. */
function numbersOf(text: string): [number, number] {
  const bytes = Buffer.from(text, 'hex');
  return [bytes.readUInt32BE(0), bytes.readUInt32BE(4)];
}
