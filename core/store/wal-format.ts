// What every reader of the write-ahead log beside SQLite knows of its file: https://sqlite.org/fileformat2.html#walformat. The log has no
// locks of its own, so opening and closing it does not disturb SQLite.
import { openSync } from 'node:fs';

export const walHeaderBytes = 32;
export const frameHeaderBytes = 24;

/** Null where there is none. */
export function openWalFile(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
