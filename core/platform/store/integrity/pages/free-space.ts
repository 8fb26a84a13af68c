// Describes a directory that cannot be written: path, reason and free space.
import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

const reasons: Readonly<Record<string, string>> = {
  EROFS: 'it is on a read-only file system',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
};

/** Returns the free space of the file system of a path, which need not exist yet; null if the system does not report it. */
export function freeBytes(path: string): number | null {
  if (!existsSync(path) && dirname(path) !== path) return freeBytes(dirname(path));
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return null;
  }
}

export function describeUnwritable(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const free = freeBytes(path);
  const freeText = free === null ? '' : ` (${megabytes(free)} free)`;
  return `${path} cannot be written: ${reasons[code] ?? (error instanceof Error ? error.message : String(error))}${freeText}.`;
}

export const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
