// Checks that a backup contains all event archive files that its database references.
import { archivedName } from '../store/files/archive.ts';
import { readArchivedFiles } from '../store/files/copied-database.ts';
import type { BackupPart } from './manifest.ts';

/**
 * @returns the name of the first referenced part that is missing or has other content; null if there is none
 */
export function findLacking(database: string, parts: readonly BackupPart[]): string | null {
  const sums = new Map(parts.map(({ name, sha256 }) => [name, sha256]));
  const lacking = readArchivedFiles(database)
    .map((file) => ({ name: `archive/${archivedName(file)}`, sha256: file.sha256 }))
    .find(({ name, sha256 }) => sums.get(name) !== sha256);
  return lacking?.name ?? null;
}
