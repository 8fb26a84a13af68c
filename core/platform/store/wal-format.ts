// Constants of the WAL file format, for code that reads the log without SQLite:
// https://sqlite.org/fileformat2.html#walformat. SQLite does not lock the log file itself, so opening and
// closing it drops no lock.
import { openSync } from 'node:fs';

export const walHeaderBytes = 32;
export const frameHeaderBytes = 24;

/** Returns null if there is no log file. */
export function openWalFile(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
