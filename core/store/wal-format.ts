// Shared constants of the WAL file format for readers beside SQLite: https://sqlite.org/fileformat2.html#walformat. The log file has no
// locks of its own, so opening and closing it does not disturb SQLite.
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
