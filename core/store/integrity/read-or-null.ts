// Reads a piece of a file whose disk may not be able to: a sector that died is damage of what lies there, and no reason to end.
import { readSync } from 'node:fs';

/** @returns the bytes read, which may be fewer where the file ends or a page behind cannot be read; null where the disk cannot read there */
export function readOrNull(fd: number, into: Buffer, bytes: number, at: number): number | null {
  try {
    return readSync(fd, into, 0, bytes, at);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EIO') return null;
    throw error;
  }
}
