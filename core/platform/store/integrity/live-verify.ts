// Verifies page checksums from a separate process while a server may write: a copy made by SQLite would propagate the content of a damaged
// page. docs/decisions/0024.
import { openPageFile } from './pages/page-file.ts';
import { hasSums, readSums } from './pages/page-sums.ts';
import { verifyPages } from './verify.ts';

/** A page in the middle of a checkpoint mismatches briefly; a damaged one mismatches on every check. */
const looks = 6;
const pauseMs = 250;

/** Must not run in a process in which SQLite has the file open. @returns the damaged pages; empty if there are no checksums yet */
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
