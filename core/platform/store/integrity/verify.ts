// Verifies every page of the database file before SQLite opens it: SQLite would return wrong results from a damaged page, or a text that
// aborts the process. docs/decisions/0023.
import { statSync } from 'node:fs';
import { hasSums, readSums, type PageSums } from './pages/page-sums.ts';
import { openPageFile, type PageFile } from './pages/page-file.ts';

export interface Verified {
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
