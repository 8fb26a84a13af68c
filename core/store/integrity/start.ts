// What a start does with a data directory before a server runs on it: recognise it, compare its pages with their checksums, say in its
// identity that a server runs, bring it to the newest schema. Where it is damaged or cannot be written, it is opened only to be read.
import Database from 'libsql';
import { existsSync } from 'node:fs';
import type { Log } from '../../lib/log.ts';
import type { Problems } from '../../lib/problems.ts';
import { diskFaultOf } from '../engine-errors.ts';
import type { OnlyToRead } from '../file-engine.ts';
import { openLogHead, type LogHead } from '../log-head.ts';
import { migrate, type MigrationReport } from '../migrate.ts';
import { migrations } from '../migrations/index.ts';
import { makePrivateFile } from '../private.ts';
import { makeShrinkable, type Shrinkable } from '../shrinkable.ts';
import { openTaker, type Taker } from '../spool/taker.ts';
import { StoreError } from '../store.ts';
import { sumsOfFile } from './adopt.ts';
import { closeFolded } from './close-folded.ts';
import { damageOf, describeDamage, wayBack, type Damage } from './damage.ts';
import { writeIdentity } from './identity.ts';
import { openPageFile } from './page-file.ts';
import { hasSums, writeSums } from './page-sums.ts';
import { readableWithoutWriting } from './private-copy.ts';
import { headOf, recognise, schemaOfFile, type Directory, type Recognised } from './recognise.ts';
import { describeUnwritable } from './room.ts';
import { readOnlyUri } from './uri.ts';
import { isEmptyFile, verifyPages } from './verify.ts';
import { checkWhole } from './whole-check.ts';

export interface StartOptions {
  readonly nowMs: () => number;
  /** Where a continuous copy puts aside what is committed before it is folded in; null where none is made. */
  readonly spool: string | null;
  readonly snapshots: string;
  readonly log: Log;
  readonly problems: Problems;
}

export interface Started {
  readonly migration: MigrationReport;
  readonly shrinkable: Shrinkable;
  readonly onlyToRead: OnlyToRead | null;
  /** Removes what was made only for this run. */
  release(): void;
}

/** @throws Error with what is wrong and the way back */
export function startDirectory(dir: Directory, options: StartOptions): Started {
  if (existsSync(`${dir.database}-journal`)) rollBack(dir.database);
  // It is refused, untouched: nothing is put aside, nothing is folded in.
  if (schemaOfFile(dir.database) > migrations.length) migrateHere(dir, { ...options, spool: null });
  const known = recognise(dir);
  if (known === 'new') return startNew(dir, options);
  const damage = look(dir, options.log);
  if (damage) return startDamaged(dir, damage, options);
  try {
    writeIdentity(dir.identity, withLogHead(dir), 'open', headOf(dir));
  } catch (error) {
    return startUnwritable(dir, error, options);
  }
  tell(known, dir, options.log);
  return { ...migrateHere(dir, options), onlyToRead: null, release: () => undefined };
}

/** What the last server left in the log, and what migrations write there, is folded into the file before any engine runs. */
function migrateHere(
  { database }: Directory,
  { nowMs, snapshots, spool, log }: StartOptions,
): Pick<Started, 'migration' | 'shrinkable'> {
  const taker = spool === null ? null : openTaker({ database, spool });
  const beforeFold = (db: Database.Database): void => void (taker && putAside(db, taker, nowMs()));
  if (taker) foldLeftOver(database, beforeFold);
  const onStep = (message: string): void => log('info', message);
  const migration = migrate({ path: database, snapshots, nowMs, onStep, beforeFold });
  const shrinkable = makeShrinkable(database, taker ? { beforeFold } : {});
  taker?.folded();
  return { migration, shrinkable };
}

/** What the last server left in the log. */
function foldLeftOver(database: string, beforeFold: (db: Database.Database) => void): void {
  if (isEmptyFile(`${database}-wal`)) return;
  const db = new Database(database);
  try {
    for (const pragma of ['synchronous = FULL', 'wal_autocheckpoint = 0'])
      db.prepare(`PRAGMA ${pragma}`).all();
    beforeFold(db);
  } finally {
    closeFolded(db, database);
  }
}

function putAside(db: Database.Database, taker: Taker, timeMs: number): void {
  try {
    // A commit that was under way when the last server died may be in the log, and SQLite may pass it by and write over it. Behind a
    // write of its own nothing else is left.
    const [row] = db.prepare('PRAGMA user_version').all() as { user_version: number }[];
    db.exec(`PRAGMA user_version = ${row?.user_version ?? 0}`);
    const [head] = db.prepare('SELECT position, hash FROM log_head').all() as LogHead[];
    taker.take({ timeMs, head: head ?? null });
  } catch (error) {
    taker.end(error instanceof Error ? error.message : String(error));
  }
}

/** The first pages of a new database go without a write-ahead log. A connection that may write undoes what a kill left half done. */
function rollBack(database: string): void {
  const db = new Database(database);
  db.prepare('SELECT 1 FROM sqlite_schema').all();
  db.close();
}

/** Of an earlier version killed in its first start. */
function withLogHead(dir: Directory): Directory {
  if (!existsSync(dir.logHead)) openLogHead(dir.logHead).close();
  return dir;
}

/** The identity comes before the first table, so that a start that was killed is not taken for a copy without one. */
function startNew(dir: Directory, options: StartOptions): Started {
  try {
    if (!existsSync(dir.database)) makePrivateFile(dir.database);
    writeIdentity(dir.identity, withLogHead(dir), 'open', headOf(dir));
  } catch (error) {
    throw new Error(
      `${describeUnwritable(dir.path, error)} A new data directory needs a place that can be written.`,
      {
        cause: error,
      },
    );
  }
  return { ...migrateHere(dir, options), onlyToRead: null, release: () => undefined };
}

function tell(known: Recognised, dir: Directory, log: Log): void {
  if (known === 'moved')
    log('info', 'the data directory was moved or copied while no server ran; it goes on here', {
      dir: dir.path,
    });
}

/**
 * Where pages have no checksum yet (of an earlier version, or a damaged file of checksums) the whole database is looked at once, and
 * they get one.
 */
function look(dir: Directory, log: Log): Damage | null {
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
  // Read before SQLite opens the file in this process.
  const sums = sumsOfFile(dir.database);
  const findings = checkWhole(dir.database);
  if (findings.length > 0)
    throw new Error(`${dir.database} is damaged: ${findings.slice(0, 3).join('; ')}. ${wayBack}`);
  log(
    'info',
    hasSums(dir.database) ? 'damaged page checksums were made anew' : 'pages have checksums from now on',
    {
      database: dir.database,
    },
  );
  try {
    writeSums(dir.database, sums);
  } catch (error) {
    // A directory that cannot be written is opened only to be read, further on.
    if (diskFaultOf(error).fault === 'broken') throw error;
  }
  return null;
}

function startDamaged(dir: Directory, damage: Damage, { problems, log }: StartOptions): Started {
  const message = `${describeDamage(dir.database, damage)} ${wayBack}`;
  if (damage.isTotal) throw new Error(`${message} It cannot be read even in part.`);
  const { from, migration } = schemaFor(dir, message);
  problems.raise('damage', inPublic(message, dir));
  log('error', 'the database is damaged; the server only reads', { from, message });
  const { uri, release } = readableWithoutWriting(dir.database, readOnlyUri(dir.database));
  return {
    migration,
    shrinkable: 'already',
    onlyToRead: { fault: new StoreError('damaged', message), uri, damage },
    release,
  };
}

function startUnwritable(dir: Directory, error: unknown, { problems, log }: StartOptions): Started {
  const { fault } = diskFaultOf(error);
  if (fault === 'broken') throw error;
  const message = `${describeUnwritable(dir.path, error)} The server only reads until that is mended and it is started again.`;
  const { migration } = schemaFor(dir, message);
  const { uri, release } = readableWithoutWriting(dir.database, null);
  problems.raise('read_only', inPublic(message, dir));
  log('error', 'the data directory cannot be written; the server only reads', { message });
  return {
    migration,
    shrinkable: 'already',
    onlyToRead: { fault: new StoreError(fault, message, error), uri, damage: null },
    release,
  };
}

/** Readiness tells everybody what is wrong, and nobody where the files lie. */
const inPublic = (message: string, { path }: Directory): string =>
  message.replaceAll(`${path}/`, '').replaceAll(path, 'The data directory');

/** @throws Error where it is not the schema of this build, for it cannot be changed now */
function schemaFor(dir: Directory, why: string): { from: number; migration: MigrationReport } {
  const from = schemaOfFile(dir.database);
  const to = migrations.length;
  if (from !== to)
    throw new Error(
      `${why} It has schema ${from} and this build needs ${to}, so that it cannot be read as it is.`,
    );
  return { from, migration: { from, to, snapshot: null } };
}
