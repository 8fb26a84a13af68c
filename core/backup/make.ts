// Makes a full backup of a data directory, whether a server runs over it or not: a consistent copy of the database, checked,
// compressed and put into one file that is there whole under its name or not at all.
import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fingerprintOf } from '../lib/sealing.ts';
import { isDiskFull } from '../store/engine-errors.ts';
import { findDamage, openLive, readContents, readFacts } from '../store/copied-database.ts';
import { blobPath } from '../store/blobs.ts';
import { tryLock } from '../store/data-dir.ts';
import { wayBack } from '../store/integrity/damage.ts';
import { findDamagedPages } from '../store/integrity/live-verify.ts';
import { recognise } from '../store/integrity/recognise.ts';
import { filesIn } from '../store/paths.ts';
import { makePrivateDir, makePrivateFile } from '../store/private.ts';
import { nameWholeFile } from '../store/whole-file.ts';
import { findLacking } from './archived.ts';
import { backupName } from './folder.ts';
import type { Manifest } from './manifest.ts';
import { packBackup, type PackedFile } from './pack.ts';

export type BackupStep = 'copy' | 'check' | 'compress';

export interface MakeOptions {
  readonly dataDir: string;
  /** Where the backup goes; made where it is missing. */
  readonly folder: string;
  /** Puts the master key into the backup. */
  readonly withKey: boolean;
  /** Of Tatami. */
  readonly version: string;
  nowMs(): number;
  /** @param doneBytes of `totalBytes`, as far as the step can say */
  onStep(step: BackupStep, doneBytes: number, totalBytes: number): void;
}

export interface Backup {
  readonly path: string;
  readonly manifest: Manifest;
}

/** What is not finished lies here, inside the folder of backups. */
const workFolder = '.unfinished';
/** Of the size of the database: its copy, and the compressed copy beside it, which is far smaller in practice. */
const spaceFactor = 1.5;

/** @throws Error that says what to do */
export async function makeBackup(options: MakeOptions): Promise<Backup> {
  const { dataDir, folder } = options;
  makePrivateDir(folder);
  const locked = tryLock(join(folder, '.lock'));
  if ('heldBy' in locked)
    throw new Error(`Process ${locked.heldBy} is making a backup in ${folder} already. Wait for its end.`);
  // Whoever makes a backup here holds the lock, so what is left of an earlier one is nobody's.
  const work = join(folder, workFolder);
  const clean = (): void => rmSync(work, { recursive: true, force: true });
  process.on('exit', clean);
  try {
    clean();
    mkdirSync(work, { mode: 0o700 });
    // Where no server runs, none may start and change files half-way; where one does, it goes on.
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

/** Where no server vouches for the directory: a copy that was put together would become a good backup. @throws Error */
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
  // Before SQLite opens the file. What it copies of a damaged page it cannot tell from what was written.
  const damaged = await findDamagedPages(join(dataDir, 'tatami.db'));
  if (damaged.length > 0)
    throw new Error(
      `The database is damaged (pages: ${damaged.length}), and a backup would hide that. ${wayBack}`,
    );
  const totalBytes = copyDatabase(copy, options);
  onStep('check', 0, totalBytes);
  const damage = findDamage(copy);
  if (damage.length > 0)
    throw new Error(`The database is damaged, and so would be its backup: ${damage.slice(0, 3).join('; ')}`);
  const facts = readFacts(copy);
  const unfinished = join(work, 'backup');
  makePrivateFile(unfinished);
  const manifest = await packBackup(
    unfinished,
    { version: options.version, createdAt, ...facts },
    {
      database: copy,
      // Listed after the copy was made: what an event file took over from the database before is among them.
      beside: [...filesBelow(dataDir, 'archive'), ...contentsOf(copy, dataDir)],
      key: options.withKey ? keyFor(dataDir, facts.keyFingerprint) : null,
    },
    (bytes) => onStep('compress', bytes, totalBytes),
  );
  const lacking = findLacking(copy, manifest.parts);
  if (lacking !== null)
    throw new Error(
      `The database names the file of old events ${lacking}, which is missing or damaged in ${dataDir}: a backup without it could not be restored whole. ` +
        'Put the file back from an older backup or a continuous copy.',
    );
  const path = join(folder, backupName(manifest));
  nameWholeFile(unfinished, path);
  return { path, manifest };
}

/** @returns the bytes of the copy, about */
function copyDatabase(copy: string, { dataDir, folder, onStep }: MakeOptions): number {
  const live = openLive(join(dataDir, 'tatami.db'), join(dataDir, 'log-head'));
  try {
    checkSpace(folder, Math.ceil(live.sizeBytes * spaceFactor));
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
    `The disk of ${folder} got full while the backup was made. Nothing of it is left there; make room, or choose a folder on another disk.`,
    { cause },
  );

/** @throws Error where it would not open what is in the backup */
function keyFor(dataDir: string, fingerprint: string | null): Buffer {
  const file = join(dataDir, 'master.key');
  if (!existsSync(file))
    throw new Error(
      `${file} is missing, so that no backup can hold it. Put it back, or leave --with-key away.`,
    );
  const key = readFileSync(file);
  if (
    fingerprint !== null &&
    fingerprintOf(Buffer.from(key.toString('utf8').trim(), 'base64')) !== fingerprint
  )
    throw new Error(
      `${file} is not the key of this database. Start the server once, which says what is wrong.`,
    );
  return key;
}

function checkSpace(folder: string, neededBytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;
  if (bavail * bsize < neededBytes)
    throw new Error(
      `A backup in ${folder} needs up to ${megabytes(neededBytes)} while it is made, and ${megabytes(bavail * bsize)} are free. ` +
        'Make room, or choose a folder on another disk.',
    );
}

/**
 * Those that the copy names. What no row names may be swept before it is packed; what the copy names is there for an hour after its row
 * went. One that is missing already must not keep everything else out of every backup: `tatami doctor` tells of it.
 */
const contentsOf = (copy: string, dataDir: string): PackedFile[] =>
  readContents(copy)
    .map((sha256) => blobPath(join(dataDir, 'blobs'), sha256))
    .filter((path) => existsSync(path))
    .map((path) => ({ name: relative(dataDir, path), path }));

function filesBelow(dataDir: string, name: string): PackedFile[] {
  const folder = join(dataDir, name);
  if (!existsSync(folder)) return [];
  return filesIn(folder)
    .filter((path) => !basename(path).startsWith('.') && !path.endsWith('.new'))
    .map((path) => ({ name: relative(dataDir, path), path }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
