// Reads from a file on a disk that may be failing: an unreadable sector counts as damaged content, not as a fatal error.
import { readSync } from 'node:fs';

/**
 * @returns the number of bytes read, which is smaller at the end of the file or before an unreadable page; null if the disk cannot read
 *   there
 */
export function readOrNull(fd: number, into: Buffer, bytes: number, at: number): number | null {
  try {
    return readSync(fd, into, 0, bytes, at);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EIO') return null;
    throw error;
  }
}
