// WAL archiver of the continuous copy: saves committed frames of the write-ahead log as segments before they are checkpointed and the log
// restarts. Runs in the only code that may checkpoint (the writer thread, and the start before that thread runs), so no checkpoint can
// intervene. A failure of the archiver ends the chain, never the write; the copy then starts a new chain with a new base.
// docs/decisions/0025.
import { closeSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import type { LogHead } from '../log-head.ts';
import { makePrivateDir } from '../files/private.ts';
import {
  addPage,
  dropUnfinished,
  encodeHeader,
  lastHeader,
  readEnd,
  readCheckpointMark,
  segmentHeaderBytes,
  segmentPath,
  writeEnd,
  writeCheckpointMark,
  type FileState,
  type SegmentHeader,
} from './segments.ts';
import { openWal, type CommittedFrames, type Wal, type WalPosition } from './wal-frames.ts';

/** Number of pages per write. */
const blockPages = 64;

export interface TakenAt {
  readonly timeMs: number;
  readonly head: LogHead | null;
}

export interface WalArchiver {
  /** Archives the frames committed since the last call. Must be called before every checkpoint, while no write is in flight. */
  archive(at: TakenAt): void;
  /** Records that the archived frames may be in the database file now. */
  checkpointed(): void;
  /** Starts a chain with all frames in the log, and deletes all earlier segments. */
  begin(chain: string, at: TakenAt): void;
  end(reason: string): void;
}

interface Chain {
  readonly name: string;
  /** Index of the last segment. */
  readonly index: number;
  /** See `SegmentHeader.first`. */
  readonly first: number;
  /** End of the archived part of the log; null if nothing of the log is archived yet. */
  readonly position: WalPosition | null;
}

interface Where {
  readonly database: string;
  readonly walArchive: string;
}

/** Continues the stored chain if it provably has no gap. */
export function openWalArchiver({ database, walArchive }: Where): WalArchiver {
  let chain: Chain | null = null;

  const end = (reason: string): void => {
    chain = null;
    const noted = tried(() => {
      dropUnfinished(walArchive);
      writeEnd(walArchive, reason);
    });
    // The disk is full. Removing the folder ends the chain as well; a folder left in place would describe a file and a log that have since
    // changed.
    if (!noted) tried(() => rmSync(walArchive, { recursive: true, force: true }));
  };
  const orEnd = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      end(error instanceof Error ? error.message : String(error));
    }
  };

  orEnd(() => {
    chain = resume({ database, walArchive });
  });
  return {
    archive: (at) =>
      orEnd(() => {
        if (chain) chain = takeNext({ database, walArchive }, chain, at);
      }),
    checkpointed: () =>
      orEnd(() => {
        if (chain)
          writeCheckpointMark(walArchive, {
            chain: chain.name,
            index: chain.index,
            file: fileState(database),
          });
      }),
    begin: (name, at) =>
      orEnd(() => {
        rmSync(walArchive, { recursive: true, force: true });
        makePrivateDir(walArchive);
        chain = beginChain({ database, walArchive }, name, at);
        if (!chain.position)
          writeCheckpointMark(walArchive, { chain: name, index: 0, file: fileState(database) });
      }),
    end,
  };
}

function tried(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** @throws Error with the reason why the stored chain cannot continue */
function resume(where: Where): Chain | null {
  const last = lastHeader(where.walArchive);
  if (!last || readEnd(where.walArchive) !== null) return null;
  const { chain: name, index, first, place: position } = last;
  if (isLogOf(where.database, last)) return { name, index, first, position };
  if (isFileOf(where, last)) return { name, index, first, position: null };
  throw new Error(
    'the database was written while the continuous copy was off, or belongs to a copy of this data directory',
  );
}

/** Returns true if the log is the one from which the segment was read. */
function isLogOf(database: string, { place: position, inode }: SegmentHeader): boolean {
  return (
    position !== null &&
    fileState(database).inode === inode &&
    withWal(database, (wal) => wal?.reached(position) ?? false)
  );
}

/** Returns true if the file is unchanged since everything up to the segment was checkpointed. */
function isFileOf({ database, walArchive }: Where, { chain, index }: SegmentHeader): boolean {
  const mark = readCheckpointMark(walArchive);
  return mark?.chain === chain && mark.index === index && isSame(mark.file, fileState(database));
}

function beginChain(where: Where, name: string, at: TakenAt): Chain {
  return withWal(where.database, (wal) => {
    const committed = wal?.committedSince(wal.start);
    const position = committed?.to ?? null;
    writeSegment(where, { name, index: 0, first: 0, position }, at, wal, committed);
    return { name, index: 0, first: 0, position };
  });
}

function takeNext(where: Where, chain: Chain, at: TakenAt): Chain {
  return withWal(where.database, (wal) => {
    if (!wal) return chain;
    const goesOn = chain.position?.salt === wal.start.salt;
    if (goesOn && chain.position && !wal.reached(chain.position))
      throw new Error('the write-ahead log is not the one that was read before');
    const committed = wal.committedSince(goesOn && chain.position ? chain.position : wal.start);
    if (committed.dbPages === null) return chain;
    const index = chain.index + 1;
    const next = { ...chain, index, first: goesOn ? chain.first : index, position: committed.to };
    writeSegment(where, next, at, wal, committed);
    return next;
  });
}

function withWal<T>(database: string, work: (wal: Wal | null) => T): T {
  const wal = openWal(`${database}-wal`);
  try {
    return work(wal);
  } finally {
    wal?.close();
  }
}

/**
 * Writes a segment atomically, but does not sync it: after a power failure, the checksum reveals an
 * incomplete one.
 */
function writeSegment(
  { database, walArchive }: Where,
  { name, index, first, position }: Chain,
  at: TakenAt,
  wal: Wal | null,
  committed: CommittedFrames | undefined,
): void {
  const path = segmentPath(walArchive, index);
  const fd = openSync(`${path}.new`, 'w', 0o600);
  try {
    const sum = wal && committed ? writePages(fd, wal, committed) : 0n;
    const header: SegmentHeader = {
      ...at,
      chain: name,
      index,
      first,
      place: position,
      pageBytes: committed?.pageBytes ?? 0,
      dbPages: committed?.dbPages ?? null,
      pages: committed?.pages.size ?? 0,
      sum: sum.toString(16),
      inode: fileState(database).inode,
    };
    writeSync(fd, encodeHeader(header), 0, segmentHeaderBytes, 0);
  } finally {
    closeSync(fd);
  }
  renameSync(`${path}.new`, path);
}

/** @returns the checksum of the pages */
function writePages(fd: number, wal: Wal, { pages, pageBytes }: CommittedFrames): bigint {
  const entryBytes = 4 + pageBytes;
  const block = Buffer.allocUnsafe(blockPages * entryBytes);
  let sum = 0n;
  let filled = 0;
  let at = segmentHeaderBytes;
  const flush = (): void => {
    at += writeSync(fd, block, 0, filled, at);
    filled = 0;
  };
  for (const [page, from] of pages) {
    const entry = block.subarray(filled, filled + entryBytes);
    entry.writeUInt32BE(page, 0);
    wal.readPage(from, entry.subarray(4));
    sum = addPage(sum, entry);
    filled += entryBytes;
    if (filled === block.length) flush();
  }
  flush();
  return sum;
}

function fileState(path: string): FileState {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return { inode: String(ino), bytes: String(size), changedNs: String(mtimeNs) };
}

const isSame = (a: FileState, b: FileState): boolean =>
  a.inode === b.inode && a.bytes === b.bytes && a.changedNs === b.changedNs;
