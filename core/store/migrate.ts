// Numbered forward-only migrations: each runs in one transaction with its row in `migrations`, after a snapshot of the
// file. A database of a newer build is refused untouched.
import Database from 'libsql';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { migrations, type Migration } from './migrations/index.ts';
import { makePrivateDir, makePrivateFile } from './private.ts';
import { nameWholeFile } from './whole-file.ts';

export interface MigrationReport {
  from: number;
  to: number;
  /** The snapshot made before the first change; null where there was nothing to lose. */
  snapshot: string | null;
}

type Connection = InstanceType<typeof Database>;

/**
 * Brings the file to the newest schema this build knows.
 * @throws Error on a newer schema, on an altered migration, or when a migration fails (the file then keeps its old version).
 */
export function migrate(
  options: {
    path: string;
    snapshots: string;
    nowMs: () => number;
    /** Called before the log is folded into the file. */
    beforeFold?: (db: Connection) => void;
  },
  steps: readonly Migration[] = migrations,
): MigrationReport {
  const existed = existsSync(options.path);
  if (!existed) makePrivateFile(options.path);
  const db = new Database(options.path);
  try {
    // Nothing is folded in but where the connection ends.
    db.prepare('PRAGMA wal_autocheckpoint = 0').all();
    const from = (db.prepare('PRAGMA user_version').all()[0] as { user_version: number }).user_version;
    if (from > steps.length)
      throw new Error(
        `This database has schema ${from}; this build knows ${steps.length}. Start the newer build, or restore a snapshot from ${options.snapshots}.`,
      );
    if (from > 0) checkApplied(db, steps.slice(0, from));
    if (from === steps.length) return { from, to: from, snapshot: null };

    const snapshot = existed && from > 0 ? takeSnapshot(db, from, options) : null;
    // An event or issue of usual length fits a page of this size; what does not costs a page more to write and to pass by.
    if (from === 0) db.exec('PRAGMA page_size = 8192');
    db.prepare('PRAGMA journal_mode = WAL').all();
    db.prepare('PRAGMA synchronous = FULL').all();
    for (let version = from + 1; version <= steps.length; version++)
      apply(db, version, steps[version - 1]!, options.nowMs());
    return { from, to: steps.length, snapshot };
  } finally {
    options.beforeFold?.(db);
    db.close();
  }
}

/** Whole under its name or not there: a half one would be taken for a way back. */
function takeSnapshot(
  db: Connection,
  from: number,
  options: { snapshots: string; nowMs: () => number },
): string {
  makePrivateDir(options.snapshots);
  const stamp = new Date(options.nowMs()).toISOString().replaceAll(':', '');
  const snapshot = join(options.snapshots, `schema-${from}-${stamp}.db`);
  const unfinished = `${snapshot}.new`;
  for (const name of readdirSync(options.snapshots))
    if (name.endsWith('.new') || name.endsWith('.new-journal')) rmSync(join(options.snapshots, name));
  makePrivateFile(unfinished);
  db.prepare('VACUUM INTO ?1').run([unfinished]);
  nameWholeFile(unfinished, snapshot);
  return snapshot;
}

function apply(db: Connection, version: number, step: Migration, nowMs: number): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec(step.sql);
    db.prepare('INSERT INTO migrations (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)').run([
      BigInt(version),
      step.name,
      checksum(step),
      BigInt(nowMs),
    ]);
    db.exec(`PRAGMA user_version = ${version}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Migration ${step.name} failed; the database stays at schema ${version - 1}: ${reason}`, {
      cause: error,
    });
  }
}

function checkApplied(db: Connection, steps: readonly Migration[]): void {
  const rows = db.prepare('SELECT version, checksum FROM migrations ORDER BY version').all() as {
    version: number;
    checksum: string;
  }[];
  for (const [index, step] of steps.entries())
    if (rows[index]?.checksum !== checksum(step))
      throw new Error(
        `Migration ${step.name} is not the one this database was made with. Start the build that made it, or restore a snapshot.`,
      );
}

function checksum(step: Migration): string {
  return createHash('sha256').update(step.sql).digest('hex');
}
