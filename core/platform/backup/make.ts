// Makes a full backup of a data directory, with or without a running server: a consistent, checked and
// compressed copy of the database in one file that is written atomically. Also verifies backups completely.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fingerprintOf } from '../lib/secrets/sealing.ts';
import { isDiskFull } from '../store/engine/engine-errors.ts';
import { archivedName } from '../store/files/archive.ts';
import { blobPath } from '../store/files/blobs.ts';
import {
  findDamage,
  openLive,
  readArchivedFiles,
  readContents,
  readFacts,
  type DatabaseFacts,
} from '../store/files/copied-database.ts';
import { tryLock } from '../store/files/data-dir.ts';
import { nameWholeFile } from '../store/files/installation.ts';
import { makeOwnDir, makePrivateDir, makePrivateFile } from '../store/files/private.ts';
import { wayBack } from '../store/integrity/damage.ts';
import { recognise } from '../store/integrity/identity.ts';
import { requireSpace } from '../store/integrity/page-file.ts';
import { findDamagedPages } from '../store/integrity/verify.ts';
import { backupName } from './folder.ts';
import { blobPart, DamagedBackup, type Manifest, type Sums } from './manifest.ts';
import { packBackup, type PackedFile } from './pack.ts';
import { unpackBackup, type Unpacked } from './unpack.ts';

export type BackupStep = 'copy' | 'check' | 'compress';

interface MakeOptions {
  readonly dataDir: string;
  /** Folder of the backup; created if missing. */
  readonly folder: string;
  readonly withKey: boolean;
  /** Version of Tatami. */
  readonly version: string;
  nowMs(): number;
  /** @param doneBytes progress of the step; `totalBytes` is approximate */
  onStep(step: BackupStep, doneBytes: number, totalBytes: number): void;
}

export interface Backup {
  readonly path: string;
  readonly manifest: Manifest;
}

/** Subfolder for unfinished backups. */
const workFolder = '.unfinished';
/** Required space as a multiple of the database size: its copy, plus the compressed copy, which is much smaller in practice. */
const spaceFactor = 1.5;

/** @throws Error that states the remedy */
export async function makeBackup(options: MakeOptions): Promise<Backup> {
  const { dataDir, folder } = options;
  makePrivateDir(folder);
  const locked = tryLock(join(folder, '.lock'));
  if ('lockedBy' in locked)
    throw new Error(
      `Process ${locked.lockedBy} is already making a backup in ${folder}. Wait until it has finished.`,
    );
  // This process holds the lock, so leftovers of an earlier backup can be removed.
  const work = join(folder, workFolder);
  const clean = (): void => rmSync(work, { recursive: true, force: true });
  process.on('exit', clean);
  try {
    clean();
    mkdirSync(work, { mode: 0o700 });
    // Holding the lock of the directory prevents a server from starting midway; a running server is not affected.
    const quiet = existsSync(dataDir) ? tryLock(join(dataDir, 'lock')) : null;
    try {
      if (quiet && 'release' in quiet) requireOwn(dataDir);
      return await makeIn(work, options).catch((error: unknown) => {
        throw isDiskFull(error) ? fullDisk(folder, error) : error;
      });
    } finally {
      if (quiet && 'release' in quiet) quiet.release();
    }
  } finally {
    clean();
    process.off('exit', clean);
    locked.release();
  }
}

/**
 * Refuses an inconsistent copy of a data directory, which would become a valid backup.
 * @throws Error if the directory is an inconsistent copy
 */
function requireOwn(dataDir: string): void {
  const database = join(dataDir, 'tatami.db');
  if (existsSync(database))
    recognise({
      path: dataDir,
      database,
      logHead: join(dataDir, 'log-head'),
      identity: join(dataDir, 'identity'),
    });
}

async function makeIn(work: string, options: MakeOptions): Promise<Backup> {
  const { dataDir, folder, onStep } = options;
  const createdAt = new Date(options.nowMs()).toISOString();
  const copy = join(work, 'tatami.db');
  // The check must precede SQLite's first open of the file. A copy made by SQLite would hide damaged pages.
  const damaged = await findDamagedPages(join(dataDir, 'tatami.db'));
  if (damaged.length > 0)
    throw new Error(
      `The database is damaged (pages: ${damaged.length}), and a backup would hide the damage. ${wayBack}`,
    );
  const totalBytes = copyDatabase(copy, options);
  onStep('check', 0, totalBytes);
  const damage = findDamage(copy);
  if (damage.length > 0)
    throw new Error(
      `The database is damaged, so no backup was made: ${damage.slice(0, 3).join('; ')}. ${wayBack}`,
    );
  const facts = readFacts(copy);
  const unfinished = join(work, 'backup');
  const { manifest, sums } = await packBackup(
    unfinished,
    { version: options.version, createdAt, ...facts },
    {
      database: copy,
      beside: referencedFiles(copy, dataDir),
      key: options.withKey ? keyFor(dataDir, facts.keyFingerprint) : null,
    },
    (bytes) => onStep('compress', bytes, totalBytes),
  );
  const lacking = findLacking(copy, sums);
  if (lacking !== null)
    throw new Error(
      `The archive file ${lacking}, which the database references, is missing or damaged in ${dataDir}: a backup without it could not be restored completely. ` +
        'Restore the file from an older backup or a continuous copy.',
    );
  const path = join(folder, backupName(manifest));
  nameWholeFile(unfinished, path);
  return { path, manifest };
}

/** @returns the approximate size of the copy in bytes */
function copyDatabase(copy: string, { dataDir, folder, onStep }: MakeOptions): number {
  const live = openLive(join(dataDir, 'tatami.db'), join(dataDir, 'log-head'));
  try {
    requireSpace(folder, Math.ceil(live.sizeBytes * spaceFactor), 'A backup');
    onStep('copy', 0, live.sizeBytes);
    makePrivateFile(copy);
    live.copyInto(copy);
    return live.sizeBytes;
  } finally {
    live.close();
  }
}

const fullDisk = (folder: string, cause: unknown): Error =>
  new Error(
    `The disk of ${folder} is full. The incomplete backup was removed. Free some space, or choose a folder on another disk.`,
    { cause },
  );

/** Returns the master key file for the backup. @throws Error if the key is missing or does not match the database */
function keyFor(dataDir: string, fingerprint: string | null): Buffer {
  const file = join(dataDir, 'master.key');
  if (!existsSync(file))
    throw new Error(
      `${file} is missing, so the backup cannot include it. Restore the file, or omit --with-key.`,
    );
  const key = readFileSync(file);
  if (
    fingerprint !== null &&
    fingerprintOf(Buffer.from(key.toString('utf8').trim(), 'base64')) !== fingerprint
  )
    throw new Error(
      `${file} is not the key of this database. Restore the right key file, or omit --with-key.`,
    );
  return key;
}

/**
 * Returns the archive files and the file contents that the copied database references. A referenced content remains on disk for an hour
 * after its row is deleted, but unreferenced ones may be removed during the backup. A missing content must not block every backup: `tatami
 * doctor` reports it. A missing archive file does: `findLacking`.
 */
function referencedFiles(copy: string, dataDir: string): PackedFile[] {
  const archived = readArchivedFiles(copy).map(archivedName).sort();
  return [
    ...archived.map((name) => ({ name: `archive/${name}`, path: join(dataDir, 'archive', name) })),
    ...readContents(copy).map((sha256) => ({
      name: blobPart(sha256),
      path: blobPath(join(dataDir, 'blobs'), sha256),
    })),
  ].filter(({ path }) => existsSync(path));
}

/**
 * Checks that a backup contains all event archive files that its database references.
 * @returns the name of the first referenced part that is missing or has other content; null if there is none
 */
function findLacking(database: string, sums: Sums): string | null {
  const lacking = readArchivedFiles(database)
    .map((file) => ({ name: `archive/${archivedName(file)}`, sha256: file.sha256 }))
    .find(({ name, sha256 }) => sums.get(name) !== sha256);
  return lacking?.name ?? null;
}

/**
 * Verifies a backup completely: every byte against its checksums, the database with SQLite's integrity check,
 * and the content against the manifest. Needs free space in the folder of the backup for the unpacked
 * database.
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
