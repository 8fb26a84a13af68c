// Creates a data directory from a backup or a continuous copy. The directory is built under a temporary name,
// checked, and renamed at the end, so that no server can start on an interrupted restore.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fingerprintOf } from '../lib/secrets/sealing.ts';
import { tryLock } from '../store/files/data-dir.ts';
import { adoptDatabase } from '../store/integrity/identity.ts';
import { isDiskFull } from '../store/engine/engine-errors.ts';
import { migrate } from '../store/migrate.ts';
import { migrations } from '../store/migrations/index.ts';
import { beginHistory, signInTables } from '../store/files/copied-database.ts';
import { makeOwnDir, requireOwner } from '../store/files/private.ts';
import { syncPath, writeWholeFile } from '../store/files/installation.ts';
import type { RestoredDatabase, BackupSource } from './source.ts';

export interface RestoreOptions {
  readonly source: BackupSource;
  /** Target directory; must be missing or empty. */
  readonly dataDir: string;
  /** Content of a `master.key` file; null to use only the key in the backup. */
  readonly key: Buffer | null;
  nowMs(): number;
  /** Called with the progress of reading the source. */
  onProgress(done: number, of: number): void;
}

export interface Restored {
  /** Time of the data, ISO 8601. */
  readonly at: string;
  readonly position: number;
  readonly workspaces: number;
  readonly events: number;
  readonly schema: number;
  /** New log generation. */
  readonly generation: string;
  /** False if the operator has to add `master.key` before a server can start. */
  readonly hasKey: boolean;
}

/** @throws Error that states the remedy, DamagedBackup */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { dataDir, source } = options;
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0)
    throw new Error(
      `${dataDir} is not empty. Restore into a new directory, check it, and then move it into place.`,
    );
  if (source.schema !== null && source.schema > migrations.length)
    throw new Error(
      `The backup has schema ${source.schema}; this version of Tatami supports up to ${migrations.length}. Restore it with the version that made it, or a newer one.`,
    );
  requireOwner(dataDir);
  const staging = `${dataDir}.restoring`;
  mkdirSync(dirname(staging), { recursive: true, mode: 0o700 });
  // The staging directory must belong to this user, because its content is deleted and the master key is
  // written into it.
  makeOwnDir(staging);
  const locked = tryLock(join(staging, 'lock'));
  if ('lockedBy' in locked)
    throw new Error(
      `Process ${locked.lockedBy} is already restoring to ${dataDir}. Wait until it has finished.`,
    );
  let isDone = false;
  const clean = (): void => {
    if (!isDone) rmSync(staging, { recursive: true, force: true });
  };
  process.on('exit', clean);
  try {
    // Removes leftovers of an interrupted restore.
    for (const name of readdirSync(staging))
      if (name !== 'lock') rmSync(join(staging, name), { recursive: true });
    const restored = await restoreInto(staging, options).catch((error: unknown) => {
      throw isDiskFull(error)
        ? new Error(`The disk of ${dataDir} is full. Nothing was restored. Free some space and retry.`, {
            cause: error,
          })
        : error;
    });
    for (const path of everythingIn(staging)) syncPath(path);
    if (existsSync(dataDir)) rmdirSync(dataDir);
    renameSync(staging, dataDir);
    syncPath(dirname(dataDir));
    isDone = true;
    return restored;
  } finally {
    clean();
    process.off('exit', clean);
    locked.release();
  }
}

async function restoreInto(folder: string, options: RestoreOptions): Promise<Restored> {
  const { facts, at, key } = await options.source.bring(folder, options.onProgress);
  const masterKey = keyOf(key, options.key, facts.keyFingerprint);
  const database = join(folder, 'tatami.db');
  if (!options.source.retainsSchema)
    migrate({ path: database, snapshots: join(folder, 'snapshots'), nowMs: options.nowMs });
  // Sessions and links that ended after the backup would otherwise become valid again.
  const generation = beginHistory(database, options.nowMs(), signInTables);
  adoptDatabase(folder);
  if (masterKey) writeWholeFile(join(folder, 'master.key'), masterKey);
  return {
    at,
    position: facts.log.position,
    schema: options.source.retainsSchema ? facts.schema : migrations.length,
    workspaces: facts.workspaces.length,
    events: facts.workspaces.reduce((sum, { events }) => sum + events, 0),
    generation,
    hasKey: masterKey !== null,
  };
}

function keyOf(
  inBackup: RestoredDatabase['key'],
  providedKey: Buffer | null,
  fingerprint: string | null,
): Buffer | null {
  const text = (key: Buffer): string => key.toString('utf8').trim();
  if (inBackup && providedKey && text(inBackup) !== text(providedKey))
    throw new Error(
      'The key given with --key is not the one in the backup. Omit --key to use the key in the backup.',
    );
  const key = inBackup ?? providedKey;
  const bytes = key && Buffer.from(text(key), 'base64');
  if (bytes && bytes.length !== 32)
    throw new Error('The master key must be 32 bytes in base64, as Tatami wrote it to master.key.');
  if (bytes && fingerprint !== null && fingerprintOf(bytes) !== fingerprint)
    throw new Error(
      `The master key does not match this database: its fingerprint is ${fingerprintOf(bytes)}, but the database needs ${fingerprint}. Nothing was restored. Pass the right key with --key.`,
    );
  return key;
}

/** Returns all paths in the folder, and the folder itself last. */
function everythingIn(folder: string): string[] {
  const inside = readdirSync(folder, { recursive: true, withFileTypes: true });
  return [...inside.map(({ parentPath, name }) => join(parentPath, name)), folder];
}
