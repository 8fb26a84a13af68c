// Whether what a backup holds is whole: every byte against its sums, the database by SQLite's own check, and what it holds against
// what the manifest says was copied.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findDamage, readFacts, type DatabaseFacts } from '../store/copied-database.ts';
import { tryLock } from '../store/data-dir.ts';
import { makeOwnDir } from '../store/private.ts';
import { findLacking } from './archived.ts';
import { DamagedBackup } from './manifest.ts';
import { unpackBackup, type Unpacked } from './unpack.ts';

/**
 * Unpacks a backup and looks into its database.
 * @param folder where its parts are written
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
  if (damage !== undefined) throw new DamagedBackup(`The database in the backup is damaged: ${damage}`);
  if (factsText(readFacts(database)) !== factsText(unpacked.manifest))
    throw new DamagedBackup('The database in the backup does not hold what the first line says.');
  const lacking = findLacking(database, unpacked.manifest.parts);
  if (lacking !== null)
    throw new DamagedBackup(
      `The backup lacks the file of old events ${lacking}, or holds it damaged: its database names it.`,
    );
  return unpacked;
}

function factsText({ schema, name, generation, keyFingerprint, log, workspaces }: DatabaseFacts): string {
  return JSON.stringify([schema, name, generation, keyFingerprint, log, workspaces]);
}

/** Needs as much room beside the backup as its database takes. @returns what is wrong; null where it is good */
export async function findDeepProblem(
  path: string,
  onBytes?: (bytes: number, totalBytes: number) => void,
): Promise<string | null> {
  const folder = join(dirname(path), '.verifying');
  makeOwnDir(folder);
  const locked = tryLock(join(folder, 'lock'));
  if ('heldBy' in locked)
    throw new Error(`Process ${locked.heldBy} is verifying there already. Wait for its end.`);
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
