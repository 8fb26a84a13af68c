// The spool of the continuous copy: a folder of the data directory where what was committed since the last time lies as segments, one file
// each, until it has been sent. Whoever takes from the write-ahead log fills it, whoever sends empties it; it is all they share.
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
import { makePrivateFile } from '../private.ts';
import type { LogHead } from '../log-head.ts';
import type { WalPlace } from './wal-frames.ts';

/** Of a segment's file. What follows are its pages, each behind its number in four bytes. */
export const segmentHeaderBytes = 1024;

export interface SegmentHeader {
  /** The chain it is a link of: segments of one chain follow each other without a gap. */
  readonly chain: string;
  /** From 0 on. */
  readonly index: number;
  /** The database file held all that came before this segment when the log began that is written now. */
  readonly first: number;
  readonly timeMs: number;
  /** Of the event log; null where there is none yet. */
  readonly head: LogHead | null;
  readonly pageBytes: number;
  /** Size of the database; null where nothing was committed. */
  readonly dbPages: number | null;
  readonly pages: number;
  /** Over the pages and their numbers. */
  readonly sum: string;
  /** Up to where the log was read; null where there was none. */
  readonly place: WalPlace | null;
  /** The database file it was taken beside, which a copy of the directory does not have. */
  readonly inode: string;
}

const unsent = '.segment';
const sent = '.sent';

export const segmentPath = (spool: string, index: number): string =>
  join(spool, `${String(index).padStart(10, '0')}${unsent}`);

/** In order. */
const namesIn = (spool: string): string[] =>
  existsSync(spool)
    ? readdirSync(spool)
        .filter((name) => name.endsWith(unsent) || name.endsWith(sent))
        .sort()
    : [];

/** Of the segments that wait to be sent, in order. */
export const waitingPaths = (spool: string): string[] =>
  namesIn(spool)
    .filter((name) => name.endsWith(unsent))
    .map((name) => join(spool, name));

/** Sent or not; null where there is none, or none that is whole. */
export function lastHeader(spool: string): SegmentHeader | null {
  const last = namesIn(spool).at(-1);
  return last === undefined ? null : readHeader(join(spool, last));
}

/** Its pages are no longer needed, but its header says where the chain goes on. Those before it go. */
export function markSent(spool: string, path: string): void {
  const kept = path.replace(unsent, sent);
  renameSync(path, kept);
  truncateSync(kept, segmentHeaderBytes);
  for (const name of namesIn(spool))
    if (name.endsWith(sent) && name < basename(kept)) rmSync(join(spool, name));
}

export function encodeHeader(header: SegmentHeader): Buffer {
  const text = JSON.stringify(header);
  return Buffer.from(`${sumOf(text)} ${text}`.padEnd(segmentHeaderBytes, ' '));
}

/** Null where it is not whole. */
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

/** What this build wrote beside its checksum; null where it is not whole. */
function checked<T>(text: string): T | null {
  const [sum = '', ...rest] = text.trimEnd().split(' ');
  const json = rest.join(' ');
  return json !== '' && sumOf(json) === sum ? (JSON.parse(json) as T) : null;
}

/** The checksum over pages: of each one, seeded with that of those before it. */
export const addPage = (sum: bigint, entry: Uint8Array): bigint => BigInt(Bun.hash(entry, sum));

/** The state of the database file; it changes with whatever is folded into it. */
export interface FileState {
  readonly inode: string;
  readonly bytes: string;
  readonly changedNs: string;
}

/** The file, as it is, holds all that came up to this segment, and whatever log comes next begins behind it. */
export interface FoldMark {
  readonly chain: string;
  readonly index: number;
  readonly file: FileState;
}

const foldMark = 'folded';
const endMark = 'ended';

export function writeFoldMark(spool: string, mark: FoldMark): void {
  const text = JSON.stringify(mark);
  makePrivateFile(join(spool, `${foldMark}.new`), `${sumOf(text)} ${text}`);
  renameSync(join(spool, `${foldMark}.new`), join(spool, foldMark));
}

export function readFoldMark(spool: string): FoldMark | null {
  const path = join(spool, foldMark);
  return existsSync(path) ? checked<FoldMark>(readFileSync(path, 'utf8')) : null;
}

/** What a write that failed left half made. */
export function dropUnfinished(spool: string): void {
  for (const name of readdirSync(spool)) if (name.endsWith('.new')) rmSync(join(spool, name));
}

/** No segment follows any more: another chain has to be begun. */
export function writeEnd(spool: string, reason: string): void {
  makePrivateFile(join(spool, endMark), reason);
}

/** @returns why the chain ended; null while it goes on */
export function readEnd(spool: string): string | null {
  const path = join(spool, endMark);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
