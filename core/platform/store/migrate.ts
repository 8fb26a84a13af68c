// Applies numbered forward-only migrations: each in one transaction with its row in `migrations`, after a
// snapshot of the file; a new database gets all of them in one transaction. A database of a newer build is
// rejected without a change.
import Database from 'libsql';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { closeCheckpointed } from './integrity/checkpointer.ts';
import { makeSums, newPageBytes, writeSums } from './integrity/page-sums.ts';
import { readOnlyUri } from './integrity/uri.ts';
import { migrations, type Migration } from './migrations/index.ts';
import { makePrivateDir, makePrivateFile } from './files/private.ts';
import { nameWholeFile } from './files/installation.ts';

export interface MigrationReport {
  from: number;
  to: number;
  /** Path of the snapshot made before the first change; null if there was nothing to save. */
  snapshot: string | null;
}

type Connection = InstanceType<typeof Database>;

interface MigrationOptions {
  readonly path: string;
  readonly snapshots: string;
  readonly nowMs: () => number;
  /** Called before each step that may take long. */
  readonly onStep?: (message: string) => void;
  readonly beforeCheckpoint?: (db: Connection) => void;
}

/**
 * Upgrades the file to the latest schema of this build.
 * @throws Error on a newer schema, on an altered migration, or if a migration fails (the file then retains
 *   its old version)
 */
export function migrate(
  options: MigrationOptions,
  steps: readonly Migration[] = migrations,
): MigrationReport {
  const existed = existsSync(options.path) && statSync(options.path).size > 0;
  const from = existed ? schemaOf(options, steps) : 0;
  if (existed && from === steps.length) return { from, to: from, snapshot: null };
  if (!existed) makeEmpty(options.path);
  const db = new Database(options.path);
  try {
    const snapshot = from > 0 ? takeSnapshot(db, from, options) : null;
    prepareForSteps(db, from);
    if (from === 0) apply(db, 1, steps, options.nowMs());
    else upgrade(db, from, steps, options);
    return { from, to: steps.length, snapshot };
  } finally {
    options.beforeCheckpoint?.(db);
    closeCheckpointed(db, options.path);
  }
}

function prepareForSteps(db: Connection, from: number): void {
  // A page of this size fits an event or issue of usual length; a longer row costs one more page to write and to skip. Only a file created
  // with incremental auto-vacuum can return the space of deleted rows to the disk.
  if (from === 0) db.exec(`PRAGMA page_size = ${newPageBytes}; PRAGMA auto_vacuum = INCREMENTAL`);
  // Without automatic checkpoints, the only checkpoint happens when the connection closes.
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'wal_autocheckpoint = 0'])
    db.prepare(`PRAGMA ${pragma}`).all();
}

function makeEmpty(path: string): void {
  // An existing empty file is retained, because the directory's identity may record its inode.
  if (!existsSync(path)) makePrivateFile(path);
  writeSums(path, makeSums(newPageBytes));
}

/** Uses a read-only connection: most starts have nothing to change, and must leave the log as it is. */
function schemaOf(
  { path, snapshots }: { path: string; snapshots: string },
  steps: readonly Migration[],
): number {
  const db = new Database(readOnlyUri(path));
  try {
    const from = (db.prepare('PRAGMA user_version').all()[0] as { user_version: number }).user_version;
    if (from > steps.length)
      throw new Error(
        `This database has schema ${from}; this build supports up to ${steps.length}. Start the newer build, or ${wayBack(snapshots, steps.length)}.`,
      );
    if (from > 0) checkApplied(db, steps.slice(0, from));
    return from;
  } finally {
    db.close();
  }
}

/** Writes the snapshot atomically: an incomplete one would be taken for a usable one. */
function takeSnapshot(db: Connection, from: number, options: MigrationOptions): string {
  makePrivateDir(options.snapshots);
  const stamp = new Date(options.nowMs()).toISOString().replaceAll(':', '');
  const snapshot = join(options.snapshots, `schema-${from}-${stamp}.db`);
  const unfinished = `${snapshot}.new`;
  for (const name of readdirSync(options.snapshots))
    if (name.endsWith('.new') || name.endsWith('.new-journal')) rmSync(join(options.snapshots, name));
  makePrivateFile(unfinished);
  options.onStep?.(`upgrading the database: taking the snapshot ${snapshot}`);
  db.prepare('VACUUM INTO ?1').run([unfinished]);
  nameWholeFile(unfinished, snapshot);
  return snapshot;
}

/** Returns the advice for an operator who has only a build that supports `schema`. */
function wayBack(folder: string, schema: number): string {
  const snapshots = (existsSync(folder) ? readdirSync(folder) : [])
    .map((name) => ({ name, schema: Number(/^schema-(\d+)-.*\.db$/.exec(name)?.[1]) }))
    .filter((snapshot) => snapshot.schema <= schema)
    .sort((a, b) => a.schema - b.schema || a.name.localeCompare(b.name));
  const newest = snapshots.at(-1);
  return newest
    ? `restore the snapshot from before the upgrade: \`tatami restore ${join(folder, newest.name)} --data-dir NEW\``
    : 'restore a backup that was made with this build';
}

function upgrade(
  db: Connection,
  from: number,
  steps: readonly Migration[],
  { onStep, nowMs }: MigrationOptions,
): void {
  for (const [index, step] of steps.slice(from).entries()) {
    onStep?.(`upgrading the database: ${step.name}, to schema ${steps.length}`);
    apply(db, from + index + 1, [step], nowMs());
  }
}

/** Applies the steps in one transaction. @param first version that the first step creates */
function apply(db: Connection, first: number, steps: readonly Migration[], nowMs: number): void {
  let name = '';
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const [index, step] of steps.entries()) {
      name = step.name;
      db.exec(step.sql);
      note(db, first + index, step, nowMs);
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Migration ${name} failed; the database stays at schema ${first - 1}. Start the previous version of Tatami. The reason was: ${reason}`,
      {
        cause: error,
      },
    );
  }
}

function note(db: Connection, version: number, step: Migration, nowMs: number): void {
  db.prepare('INSERT INTO migrations (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)').run([
    BigInt(version),
    step.name,
    checksum(step),
    BigInt(nowMs),
  ]);
  db.exec(`PRAGMA user_version = ${version}`);
}

function checkApplied(db: Connection, steps: readonly Migration[]): void {
  const rows = db.prepare('SELECT version, checksum FROM migrations ORDER BY version').all() as {
    version: number;
    checksum: string;
  }[];
  for (const [index, step] of steps.entries())
    if (rows[index]?.checksum !== checksum(step))
      throw new Error(
        `Migration ${step.name} differs from the one that created this database. Start the build that created it, or restore a snapshot.`,
      );
}

function checksum(step: Migration): string {
  return createHash('sha256').update(step.sql).digest('hex');
}
