// Compares the pages of a database with their checksums while a server may write it, from a process of its own: a copy that SQLite makes would
// carry on what a damaged page says. docs/decisions/0024.
import { openPageFile } from './page-file.ts';
import { hasSums, readSums } from './page-sums.ts';
import { verifyPages } from './verify.ts';

/** A page that is being folded in has another checksum for a moment; one that is damaged has it whenever one looks. */
const looks = 6;
const pauseMs = 250;

/**
 * SQLite must not have the file open in this process.
 * @returns the pages that are not what Tatami wrote; none where there are no checksums yet
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
