// Verifies a backup completely: every byte against its checksums, the database with SQLite's integrity check, and the content against the
// manifest.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { archivedName } from '../store/files/archive.ts';
import {
  findDamage,
  readArchivedFiles,
  readFacts,
  type DatabaseFacts,
} from '../store/files/copied-database.ts';
import { tryLock } from '../store/files/data-dir.ts';
import { makeOwnDir } from '../store/files/private.ts';
import { DamagedBackup, type Sums } from './manifest.ts';
import { unpackBackup, type Unpacked } from './unpack.ts';

/**
 * Unpacks a backup and checks its database.
 * @param folder folder for the parts of the backup
 * @throws DamagedBackup
 */
export async function unpackChecked(
  path: string,
  folder: string,
  onBytes?: (bytes: number, totalBytes: number) => void,
): Promise<Unpacked> {
  const unpacked = await unpackBackup(path, folder, onBytes);
  const database = join(folder, 'tatami.db');
  const [damage] = findDamage(database);
  if (damage !== undefined)
    throw new DamagedBackup(`The database in the backup is damaged: ${damage}. Use another backup.`);
  if (factsText(readFacts(database)) !== factsText(unpacked.manifest))
    throw new DamagedBackup('The database in the backup does not match its manifest. Use another backup.');
  const lacking = findLacking(database, unpacked.sums);
  if (lacking !== null)
    throw new DamagedBackup(
      `The archive file ${lacking}, which the database references, is missing or damaged in the backup. Use another backup.`,
    );
  return unpacked;
}

function factsText({ schema, name, generation, keyFingerprint, log, workspaces }: DatabaseFacts): string {
  return JSON.stringify([schema, name, generation, keyFingerprint, log, workspaces]);
}

/**
 * Checks that a backup contains all event archive files that its database references.
 * @returns the name of the first referenced part that is missing or has other content; null if there is none
 */
export function findLacking(database: string, sums: Sums): string | null {
  const lacking = readArchivedFiles(database)
    .map((file) => ({ name: `archive/${archivedName(file)}`, sha256: file.sha256 }))
    .find(({ name, sha256 }) => sums.get(name) !== sha256);
  return lacking?.name ?? null;
}

/**
 * Needs free space in the folder of the backup for the unpacked database.
 * @returns the problem; null if the backup is intact
 */
export async function findDeepProblem(
  path: string,
  onBytes?: (bytes: number, totalBytes: number) => void,
): Promise<string | null> {
  const folder = join(dirname(path), '.verifying');
  makeOwnDir(folder);
  const locked = tryLock(join(folder, 'lock'));
  if ('lockedBy' in locked)
    throw new Error(
      `Process ${locked.lockedBy} is already verifying in ${folder}. Wait until it has finished.`,
    );
  const clean = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', clean);
  try {
    await unpackChecked(path, folder, onBytes);
    return null;
  } catch (error) {
    if (error instanceof DamagedBackup) return error.message;
    throw error;
  } finally {
    clean();
    process.off('exit', clean);
    locked.release();
  }
}
