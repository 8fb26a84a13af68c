// A backup holds the files of old events that its database names, as the database knows them, or it is no backup.
import { archivedName } from '../store/archive.ts';
import { readArchivedFiles } from '../store/copied-database.ts';
import type { Part } from './manifest.ts';

/** @returns the first part that is missing or has other content; null where all are as the database says */
export function findLacking(database: string, parts: readonly Part[]): string | null {
  const sums = new Map(parts.map(({ name, sha256 }) => [name, sha256]));
  const lacking = readArchivedFiles(database)
    .map((file) => ({ name: `archive/${archivedName(file)}`, sha256: file.sha256 }))
    .find(({ name, sha256 }) => sums.get(name) !== sha256);
  return lacking?.name ?? null;
}
