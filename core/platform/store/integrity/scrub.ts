// Background scrub: verifies the file against its checksums piece by piece while it is in use. Runs on the writer thread, because during a
// checkpoint pages may not have their checksum yet.
import { closeSync, fstatSync, openSync } from 'node:fs';
import { damageOf, type Damage } from './damage.ts';
import { openPageFile, readOrNull } from './pages/page-file.ts';
import type { PageSums } from './pages/page-sums.ts';

/**
 * Minimum size of a piece; verifying it takes less than a millisecond. Large files use larger pieces, so that
 * the whole file is scrubbed within a day.
 */
const pieceBytes = 512 * 1024;
const piecesOfADay = 86_400;

export interface Scrub {
  /** Verifies the next piece of the file, or all of it. */
  look(sums: PageSums, all: boolean): Damage | null;
  /** Must be called after SQLite has closed the file: closing one descriptor drops the locks of all. */
  close(): void;
}

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
