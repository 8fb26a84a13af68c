// Reads what is committed in the write-ahead log beside SQLite: https://sqlite.org/fileformat2.html#walformat. Each frame repeats the salt
// of the log it belongs to and carries a checksum over all frames before it, so that whatever is read is proven to be a part of that log.
import { closeSync, readSync } from 'node:fs';
import { frameHeaderBytes, openWalFile, walHeaderBytes as headerBytes } from '../wal-format.ts';

/** Checksums are over words of this byte order, the machine's own; a log of the other order has another number. */
const littleEndianMagic = 0x377f0682;
/** Frames that are read at once. */
const blockFrames = 64;

/** Up to where a log was read, behind a committed frame or at its beginning. */
export interface WalPlace {
  /** Hex; differs from that of the log that was there before. */
  readonly salt: string;
  /** Counted from the beginning of the log. */
  readonly frames: number;
  /** Hex; over all frames before. */
  readonly sum: string;
}

/** What was committed behind a place. */
export interface Committed {
  readonly to: WalPlace;
  readonly pageBytes: number;
  /** Size of the database after the last commit; null where nothing was committed. */
  readonly dbPages: number | null;
  /** Of each page that was written, the place in the log where its last content begins. */
  readonly pages: ReadonlyMap<number, number>;
}

export interface Wal {
  /** The beginning of this log. */
  readonly start: WalPlace;
  /** Whether this log, as it is, was read up to this place. */
  reached(place: WalPlace): boolean;
  /** Reads from the place up to the last frame that ends a commit. */
  committedSince(place: WalPlace): Committed;
  /** Fills `page` from a place in the log that `Committed.pages` names. */
  readPage(at: number, page: Uint8Array): void;
  close(): void;
}

/** @returns null where there is no log, or nothing in it. @throws Error for a log of a machine with another byte order */
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
    committedSince: (place) => walk({ fd, place, pageBytes, frameAt }),
    readPage(at, page) {
      if (readSync(fd, page, 0, pageBytes, at) !== pageBytes)
        throw new Error('The write-ahead log became shorter while it was read.');
    },
    close: () => closeSync(fd),
  };
}

/** Eight bytes. */
const hex = (bytes: Buffer, at: number): string => bytes.toString('hex', at, at + 8);

/** Null for a header that was not written whole: nothing behind it counts. */
function startOf(header: Buffer): WalPlace | null {
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
  readonly place: WalPlace;
  readonly pageBytes: number;
  frameAt(frame: number): number;
}

function walk({ fd, place, pageBytes, frameAt }: Walk): Committed {
  const frameBytes = frameHeaderBytes + pageBytes;
  const block = Buffer.from(new ArrayBuffer(blockFrames * frameBytes));
  const blockWords = words(block);
  const salt = numbersOf(place.salt);
  const sums = Uint32Array.from(numbersOf(place.sum));
  const pages = new Map<number, number>();
  /** Of the transaction whose end has not come yet: page and place, in turn. */
  let open: number[] = [];
  let to = place;
  let dbPages: number | null = null;
  /** The frame at the place in the block. @returns false where it is none of this log */
  const isNext = (at: number): boolean => {
    if (block.readUInt32BE(at + 8) !== salt[0] || block.readUInt32BE(at + 12) !== salt[1]) return false;
    addSum(blockWords, at / 4, at / 4 + 2, sums);
    addSum(blockWords, (at + frameHeaderBytes) / 4, (at + frameBytes) / 4, sums);
    return block.readUInt32BE(at + 16) === sums[0] && block.readUInt32BE(at + 20) === sums[1];
  };
  for (let frame = place.frames; ;) {
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
      to = { salt: place.salt, frames: frame + 1, sum: sumText(sums) };
    }
    if (read < blockFrames) return { to, pageBytes, dbPages, pages };
  }
}

const words = (bytes: Buffer): Uint32Array =>
  new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4));

/** The checksum of the format goes over words in pairs. */
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

/** Eight bytes in hex as two numbers. */
function numbersOf(text: string): [number, number] {
  const bytes = Buffer.from(text, 'hex');
  return [bytes.readUInt32BE(0), bytes.readUInt32BE(4)];
}
