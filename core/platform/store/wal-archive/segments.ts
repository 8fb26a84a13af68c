// Stores the WAL segments of the continuous copy in a folder of the data directory, one file per segment
// until it has been sent. The archiver writes segments, the sender deletes them, and they share no other
// state.
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { makePrivateFile } from '../files/private.ts';
import type { LogHead } from '../log-head.ts';
import type { WalPosition } from './wal-frames.ts';

/** Size of a segment's header. Its pages follow, each preceded by its number in four bytes. */
export const segmentHeaderBytes = 1024;

export interface SegmentHeader {
  /** Chain of the segment: segments of one chain follow each other without a gap. */
  readonly chain: string;
  /** Position in the chain, from 0. */
  readonly index: number;
  /**
   * Index of the first segment of the current log: when this log started, the database file contained all
   * earlier segments.
   */
  readonly first: number;
  readonly timeMs: number;
  /** Log head; null if there is none yet. */
  readonly head: LogHead | null;
  readonly pageBytes: number;
  /** Size of the database in pages; null if nothing was committed. */
  readonly dbPages: number | null;
  readonly pages: number;
  /** Checksum of the pages and their numbers. */
  readonly sum: string;
  /** End of the part of the log that was read; null if there was no log. */
  readonly place: WalPosition | null;
  /** Inode of the database file, which differs in a copy of the directory. */
  readonly inode: string;
}

const unsent = '.segment';
const sent = '.sent';

export const segmentPath = (walArchive: string, index: number): string =>
  join(walArchive, `${String(index).padStart(10, '0')}${unsent}`);

/** Returns the segment file names, ascending. */
const namesIn = (walArchive: string): string[] =>
  existsSync(walArchive)
    ? readdirSync(walArchive)
        .filter((name) => name.endsWith(unsent) || name.endsWith(sent))
        .sort()
    : [];

/** Returns the paths of unsent segments, ascending. */
export const waitingPaths = (walArchive: string): string[] =>
  namesIn(walArchive)
    .filter((name) => name.endsWith(unsent))
    .map((name) => join(walArchive, name));

/** Returns the header of the last segment, sent or not; null if there is none or it is incomplete. */
export function lastHeader(walArchive: string): SegmentHeader | null {
  const last = namesIn(walArchive).at(-1);
  return last === undefined ? null : readHeader(join(walArchive, last));
}

/**
 * Marks a segment as sent: deletes its pages, but not its header, from which the chain continues, and removes
 * earlier sent segments.
 */
export function markSent(walArchive: string, path: string): void {
  const sentPath = path.replace(unsent, sent);
  renameSync(path, sentPath);
  truncateSync(sentPath, segmentHeaderBytes);
  for (const name of namesIn(walArchive))
    if (name.endsWith(sent) && name < basename(sentPath)) rmSync(join(walArchive, name));
}

export function encodeHeader(header: SegmentHeader): Buffer {
  const text = JSON.stringify(header);
  return Buffer.from(`${sumOf(text)} ${text}`.padEnd(segmentHeaderBytes, ' '));
}

/** Returns null if the header is incomplete or damaged. */
export function readHeader(path: string): SegmentHeader | null {
  const bytes = Buffer.alloc(segmentHeaderBytes);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, bytes, 0, segmentHeaderBytes, 0);
  } finally {
    closeSync(fd);
  }
  return checked<SegmentHeader>(bytes.toString());
}

const sumOf = (text: string): string => Bun.hash(text).toString(16);

/** Parses a text that follows its checksum; null if it is incomplete or damaged. */
function checked<T>(text: string): T | null {
  const [sum = '', ...rest] = text.trimEnd().split(' ');
  const json = rest.join(' ');
  return json !== '' && sumOf(json) === sum ? (JSON.parse(json) as T) : null;
}

/** Chained checksum of pages: the hash of each entry, seeded with the checksum of the entries before it. */
export const addPage = (sum: bigint, entry: Uint8Array): bigint => BigInt(Bun.hash(entry, sum));

/** State of the database file; every checkpoint changes it. */
export interface FileState {
  readonly inode: string;
  readonly bytes: string;
  readonly changedNs: string;
}

/** Records that the database file in this state contains all segments up to this one. */
export interface CheckpointMark {
  readonly chain: string;
  readonly index: number;
  readonly file: FileState;
}

const checkpointMark = 'folded';
const endMark = 'ended';

export function writeCheckpointMark(walArchive: string, mark: CheckpointMark): void {
  const text = JSON.stringify(mark);
  makePrivateFile(join(walArchive, `${checkpointMark}.new`), `${sumOf(text)} ${text}`);
  renameSync(join(walArchive, `${checkpointMark}.new`), join(walArchive, checkpointMark));
}

export function readCheckpointMark(walArchive: string): CheckpointMark | null {
  const path = join(walArchive, checkpointMark);
  return existsSync(path) ? checked<CheckpointMark>(readFileSync(path, 'utf8')) : null;
}

/** Removes incomplete files of a failed write. */
export function dropUnfinished(walArchive: string): void {
  for (const name of readdirSync(walArchive)) if (name.endsWith('.new')) rmSync(join(walArchive, name));
}

/** Ends the chain: a new chain must be started. */
export function writeEnd(walArchive: string, reason: string): void {
  makePrivateFile(join(walArchive, endMark), reason);
}

/** @returns the reason for the end of the chain; null while it continues */
export function readEnd(walArchive: string): string | null {
  const path = join(walArchive, endMark);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
