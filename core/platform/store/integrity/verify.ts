// Verifies the pages of the database file against their checksums: all of them before SQLite opens the file,
// and piece by piece while it is in use. SQLite would return wrong results from a damaged page, or a text
// that aborts the process. docs/decisions/0023.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { damageOf, type Damage } from './damage.ts';
import { openPageFile, readOrNull, type PageFile } from './page-file.ts';
import { hasSums, readSums, type PageSums } from './page-sums.ts';

interface Verified {
  /** Damaged pages, ascending. */
  readonly damaged: readonly number[];
  /** True if some page has no valid checksum, so the whole database must be checked. */
  readonly isUnsure: boolean;
}

/** Returns true for a missing or zero-length file. */
export const isEmptyFile = (database: string): boolean =>
  (statSync(database, { throwIfNoEntry: false })?.size ?? 0) === 0;

export function verifyPages(database: string): Verified {
  if (!hasSums(database)) return { damaged: [], isUnsure: true };
  const sums = readSums(database);
  const file = openPageFile(database, { pageBytes: sums.pageBytes });
  try {
    return verify(file, sums);
  } finally {
    file.close();
  }
}

function verify(file: PageFile, sums: PageSums): Verified {
  const { log, pageBytes } = file;
  const damaged: number[] = [];
  let isUnsure = sums.pageBytes === null;
  let headerPages = 0;
  file.eachInFile((page, content) => {
    if (page === 1) headerPages = pagesByHeader(content);
    if (log?.frameOf.has(page)) return;
    // The page remains from before the database shrank.
    if (page > (log?.pages ?? headerPages) && damaged[0] !== 1) return;
    const verdict = content?.length === pageBytes ? sums.verdictOf(page, content) : 'wrong';
    if (verdict === 'wrong') damaged.push(page);
    if (verdict === 'lost') isUnsure = true;
  });
  const pages = log?.pages ?? (damaged[0] === 1 ? file.pagesInFile : headerPages);
  for (let page = file.pagesInFile + 1; page <= pages; page++)
    if (!log?.frameOf.has(page)) damaged.push(page);
  return { damaged, isUnsure };
}

/** Returns 0 if the header cannot be read. */
const pagesByHeader = (first: Buffer | null): number =>
  first && first.length >= 32 ? first.readUInt32BE(28) : 0;

/** A page in the middle of a checkpoint mismatches briefly; a damaged one mismatches on every check. */
const looks = 6;
const pauseMs = 250;

/**
 * Verifies page checksums from a separate process while a server may write: a copy made by SQLite would propagate the content of a
 * damaged page. Must not run in a process in which SQLite has the file open. docs/decisions/0024.
 * @returns the damaged pages; empty if there are no checksums yet
 */
export async function findDamagedPages(database: string): Promise<readonly number[]> {
  if (!hasSums(database)) return [];
  let suspects = verifyPages(database).damaged;
  for (let look = 1; look < looks && suspects.length > 0; look++) {
    await Bun.sleep(pauseMs);
    suspects = stillWrong(database, suspects);
  }
  return suspects;
}

function stillWrong(database: string, suspects: readonly number[]): number[] {
  const sums = readSums(database);
  const file = openPageFile(database, { pageBytes: sums.pageBytes });
  try {
    const pages = file.log?.pages ?? file.header()?.pages ?? Infinity;
    return suspects.filter((page) => {
      if (page > pages || file.log?.frameOf.has(page)) return false;
      const content = file.read(page);
      return !content || sums.verdictOf(page, content) === 'wrong';
    });
  } finally {
    file.close();
  }
}

/**
 * Minimum size of a piece; verifying it takes less than a millisecond. Large files use larger pieces, so that
 * the whole file is scrubbed within a day.
 */
const pieceBytes = 512 * 1024;
const piecesOfADay = 86_400;

interface Scrub {
  /** Verifies the next piece of the file, or all of it. */
  look(sums: PageSums, all: boolean): Damage | null;
  /** Must be called after SQLite has closed the file: closing one descriptor drops the locks of all. */
  close(): void;
}

/**
 * Opens a scrub of the file in the background. It runs on the writer thread, because during a checkpoint
 * pages may not have their checksum yet.
 */
export function openScrub(database: string, pageBytes: number): Scrub {
  const fd = openSync(database, 'r');
  const content = Buffer.alloc(pageBytes);
  let next = 1;

  const wrongPages = (sums: PageSums, until: number): number[] => {
    const wrong: number[] = [];
    for (; next <= until; next++) {
      const got = readOrNull(fd, content, pageBytes, (next - 1) * pageBytes);
      if (got !== pageBytes || sums.verdictOf(next, content) === 'wrong') wrong.push(next);
    }
    return wrong;
  };

  return {
    look(sums, all) {
      const pages = Math.floor(fstatSync(fd).size / pageBytes);
      if (next > pages || all) next = 1;
      const step = Math.max(pieceBytes / pageBytes, Math.ceil(pages / piecesOfADay));
      const wrong = wrongPages(sums, all ? pages : Math.min(pages, next + step - 1));
      if (wrong.length === 0) return null;
      const file = openPageFile(database, { fd, pageBytes });
      try {
        return damageOf(file, wrong);
      } finally {
        file.close();
      }
    },
    close: () => closeSync(fd),
  };
}
