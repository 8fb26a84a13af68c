// Prepares a data directory for a server: recognizes it, verifies its page checksums, marks its identity as
// open, and migrates it. A damaged or unwritable directory is opened read-only.
import Database from 'libsql';
import {
  existsSync,
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { Log } from '../../lib/log.ts';
import type { Problems } from '../../lib/errors/failures.ts';
import { diskFaultOf, isEngineError } from '../engine/engine-errors.ts';
import type { OnlyToRead } from '../engine/file-engine.ts';
import { openLogHead, readLogHead, type LogHead } from '../log-head.ts';
import { migrate, type MigrationReport } from '../migrate.ts';
import { migrations } from '../migrations/index.ts';
import { makePrivateFile } from '../files/private.ts';
import { openWalArchiver, type WalArchiver } from '../wal-archive/wal-archiver.ts';
import { StoreError } from '../store.ts';
import {
  sumsOfFile,
  writeIdentity,
  recognise,
  schemaOfFile,
  type DataDirectory,
  type Recognised,
} from './identity.ts';
import { closeCheckpointed } from './checkpointer.ts';
import { damageOf, describeDamage, wayBack, type Damage } from './damage.ts';
import { openPageFile, describeUnwritable, freeBytes, megabytes } from './page-file.ts';
import { hasSums, writeSums, checkWhole } from './page-sums.ts';
import { readOnlyUri, immutableUri } from './uri.ts';
import { isEmptyFile, verifyPages } from './verify.ts';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readWalLog } from './wal-log.ts';

export interface StartOptions {
  readonly nowMs: () => number;
  /** Folder into which WAL segments are archived before a checkpoint; null if no continuous copy is made. */
  readonly walArchive: string | null;
  readonly snapshots: string;
  readonly log: Log;
  readonly problems: Problems;
}

export interface Started {
  readonly migration: MigrationReport;
  readonly onlyToRead: OnlyToRead | null;
  /** Removes temporary files of this run. */
  release(): void;
}

/** @throws Error that names the problem and the remedy */
export function startDirectory(dir: DataDirectory, options: StartOptions): Started {
  if (existsSync(`${dir.database}-journal`)) rollBack(dir.database);
  // A newer schema is rejected before anything is archived or checkpointed.
  if (schemaOfFile(dir.database) > migrations.length) migrateHere(dir, { ...options, walArchive: null });
  const known = recognise(dir);
  if (known === 'new') return startNew(dir, options);
  const damage = look(dir, options.log);
  if (damage) return startDamaged(dir, damage, options);
  try {
    writeIdentity(dir.identity, dir, 'open', readLogHead(dir.logHead));
  } catch (error) {
    return startUnwritable(dir, error, options);
  }
  logMove(known, dir, options.log);
  return { migration: migrateHere(dir, options), onlyToRead: null, release: () => undefined };
}

/** Checkpoints the log of the previous server and of the migrations before the engine opens. */
function migrateHere(
  { database }: DataDirectory,
  { nowMs, snapshots, walArchive, log }: StartOptions,
): MigrationReport {
  const walArchiver = walArchive === null ? null : openWalArchiver({ database, walArchive });
  const beforeCheckpoint = (db: Database.Database): void =>
    void (walArchiver && archiveLeftOver(db, walArchiver, nowMs()));
  if (walArchiver) checkpointLeftOver(database, beforeCheckpoint);
  const onStep = (message: string): void => log('info', message);
  const migration = migrate({ path: database, snapshots, nowMs, onStep, beforeCheckpoint });
  walArchiver?.checkpointed();
  return migration;
}

/** Checkpoints the log of the previous server. */
function checkpointLeftOver(database: string, beforeCheckpoint: (db: Database.Database) => void): void {
  if (isEmptyFile(`${database}-wal`)) return;
  const db = new Database(database);
  try {
    for (const pragma of ['synchronous = FULL', 'wal_autocheckpoint = 0'])
      db.prepare(`PRAGMA ${pragma}`).all();
    beforeCheckpoint(db);
  } finally {
    closeCheckpointed(db, database);
  }
}

function archiveLeftOver(db: Database.Database, walArchiver: WalArchiver, timeMs: number): void {
  try {
    // The log may hold a commit that was in flight when the previous server died, which SQLite may skip and overwrite. A write of this
    // connection moves the end of the log past it.
    const [row] = db.prepare('PRAGMA user_version').all() as { user_version: number }[];
    db.exec(`PRAGMA user_version = ${row?.user_version ?? 0}`);
    const [head] = db.prepare('SELECT position, hash FROM log_head').all() as LogHead[];
    walArchiver.archive({ timeMs, head: head ?? null });
  } catch (error) {
    walArchiver.end(error instanceof Error ? error.message : String(error));
  }
}

/**
 * The first pages of a new database are written without a write-ahead log. A writable connection rolls back a transaction that a kill left
 * half done.
 */
function rollBack(database: string): void {
  const db = new Database(database);
  db.prepare('SELECT 1 FROM sqlite_schema').all();
  db.close();
}

/** Writes the identity before the first table, so that a killed start is not taken for a copy without identity. */
function startNew(dir: DataDirectory, options: StartOptions): Started {
  try {
    if (!existsSync(dir.database)) makePrivateFile(dir.database);
    openLogHead(dir.logHead).close();
    writeIdentity(dir.identity, dir, 'open', readLogHead(dir.logHead));
  } catch (error) {
    throw new Error(
      `${describeUnwritable(dir.path, error)} Choose a writable location for the data directory.`,
      {
        cause: error,
      },
    );
  }
  return { migration: migrateHere(dir, options), onlyToRead: null, release: () => undefined };
}

function logMove(known: Recognised, dir: DataDirectory, log: Log): void {
  if (known === 'moved')
    log('info', 'the data directory was moved or copied while no server ran; the server continues with it', {
      dir: dir.path,
    });
}

/**
 * Verifies the page checksums. If some are missing, as after damage to the checksum file, checks the whole database and
 * creates them.
 */
function look(dir: DataDirectory, log: Log): Damage | null {
  const { damaged, isUnsure } = verifyPages(dir.database);
  if (damaged.length > 0) {
    const file = openPageFile(dir.database);
    try {
      return damageOf(file, damaged);
    } finally {
      file.close();
    }
  }
  if (!isUnsure) return null;
  // The checksums must be computed before SQLite first opens the file in this process.
  const sums = sumsOfFile(dir.database);
  const findings = checkWhole(dir.database);
  if (findings.length > 0)
    throw new Error(`${dir.database} is damaged: ${findings.slice(0, 3).join('; ')}. ${wayBack}`);
  log(
    'info',
    hasSums(dir.database) ? 'damaged page checksums were recreated' : 'page checksums were created',
    {
      database: dir.database,
    },
  );
  try {
    writeSums(dir.database, sums);
  } catch (error) {
    // An unwritable directory is opened read-only by `startUnwritable`.
    if (diskFaultOf(error).fault === 'broken') throw error;
  }
  return null;
}

// Opens a database for reading where nothing can be written. SQLite needs an extra file next to a write-ahead
// log. A database with an empty log is opened as immutable; otherwise a copy in the temporary folder includes
// the log.

interface Readable {
  readonly uri: string;
  release(): void;
}

/** @param usual URI to try first; null to skip */
function readableWithoutWriting(database: string, usual: string | null): Readable {
  if (usual !== null && opens(usual)) return { uri: usual, release: () => undefined };
  if (!readWalLog(`${database}-wal`)) return { uri: immutableUri(database), release: () => undefined };
  const besideLog = readOnlyUri(database);
  if (opens(besideLog)) return { uri: besideLog, release: () => undefined };
  return copyCheckpointed(database);
}

function opens(uri: string): boolean {
  try {
    const db = new Database(uri);
    db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').all();
    db.close();
    return true;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return false;
  }
}

function copyCheckpointed(database: string): Readable {
  const bytes = statSync(database).size + statSync(`${database}-wal`).size;
  const free = freeBytes(tmpdir());
  if (free !== null && free < bytes)
    throw new Error(
      `${database} cannot be read in place: its write-ahead log is not checkpointed and the directory is not writable, and ${tmpdir()} has no space for a copy ` +
        `(${megabytes(free)} free, ${megabytes(bytes)} needed). Free some space there, set TMPDIR to another folder, or make the data directory writable.`,
    );
  const dir = mkdtempSync(join(tmpdir(), 'tatami-read-only-'));
  const copy = join(dir, 'tatami.db');
  makePrivateFile(copy);
  const file = openPageFile(database);
  const fd = openSync(copy, 'r+');
  try {
    file.eachInFile((page, content) => {
      if (content) writeSync(fd, content, 0, content.length, (page - 1) * file.pageBytes);
    });
    for (const page of file.log?.frameOf.keys() ?? []) {
      const content = file.read(page);
      if (content) writeSync(fd, content, 0, content.length, (page - 1) * file.pageBytes);
    }
    if (file.log) ftruncateSync(fd, file.log.pages * file.pageBytes);
  } finally {
    closeSync(fd);
    file.close();
  }
  return { uri: immutableUri(copy), release: () => rmSync(dir, { recursive: true, force: true }) };
}

function startDamaged(dir: DataDirectory, damage: Damage, { problems, log }: StartOptions): Started {
  const message = `${describeDamage(dir.database, damage)} ${wayBack}`;
  if (damage.isTotal) throw new Error(`${message} No part of the database can be read.`);
  const { from, migration } = schemaFor(dir, message);
  problems.raise('damage', inPublic(message, dir));
  log('error', 'the database is damaged; the server is read-only', { from, message });
  const { uri, release } = readableWithoutWriting(dir.database, readOnlyUri(dir.database));
  return {
    migration,
    onlyToRead: { fault: new StoreError('damaged', message), uri, damage },
    release,
  };
}

function startUnwritable(dir: DataDirectory, error: unknown, { problems, log }: StartOptions): Started {
  const { fault } = diskFaultOf(error);
  if (fault === 'broken') throw error;
  const message = `${describeUnwritable(dir.path, error)} The server is read-only. Fix the problem and restart the server.`;
  const { migration } = schemaFor(dir, message);
  const { uri, release } = readableWithoutWriting(dir.database, null);
  problems.raise('read_only', inPublic(message, dir));
  log('error', 'the data directory cannot be written; the server is read-only', { message });
  return {
    migration,
    onlyToRead: { fault: new StoreError(fault, message, error), uri, damage: null },
    release,
  };
}

/** Strips paths: the readiness endpoint is public and must not reveal where the files are. */
const inPublic = (message: string, { path }: DataDirectory): string =>
  message.replaceAll(`${path}/`, '').replaceAll(path, 'The data directory');

/** @throws Error if the schema is not the one of this build, because a read-only database cannot be migrated */
function schemaFor(dir: DataDirectory, why: string): { from: number; migration: MigrationReport } {
  const from = schemaOfFile(dir.database);
  const to = migrations.length;
  if (from !== to)
    throw new Error(
      `${why} The database has schema ${from}, but this build needs schema ${to} and cannot migrate it now.`,
    );
  return { from, migration: { from, to, snapshot: null } };
}
