// Compares every page of the database file with its checksum, before SQLite opens it: what SQLite reads of a damaged page is a wrong
// answer, or a text that ends the process. docs/decisions/0023.
import { statSync } from 'node:fs';
import { hasSums, readSums, type PageSums } from './page-sums.ts';
import { openPageFile, type PageFile } from './page-file.ts';

export interface Verified {
  /** In order. */
  readonly damaged: readonly number[];
  /** Not every page has a checksum that says something: the whole database is to be looked at. */
  readonly isUnsure: boolean;
}

/** A file that was made a moment ago holds nothing yet. */
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
    // What a database that shrank left behind.
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

/** 0 where the header cannot be read. */
const pagesByHeader = (first: Buffer | null): number =>
  first && first.length >= 32 ? first.readUInt32BE(28) : 0;
