// Copies a live database consistently, inspects copies, and begins a new log generation in a copy. A server
// may use a database while it is copied or inspected.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import Database from 'libsql';
import { dropSums } from '../integrity/page-sums.ts';
import { immutableUri, readOnlyUri } from '../integrity/uri.ts';
import { readLogHead, type LogHead } from '../log-head.ts';
import type { ArchivedFile } from './archive.ts';
import { digestIn, type Digest } from './blobs.ts';

type Connection = InstanceType<typeof Database>;

interface WorkspaceFacts {
  readonly id: string;
  readonly events: number;
  readonly lastSequence: number;
}

/** Facts recorded in a database. */
export interface DatabaseFacts {
  readonly schema: number;
  readonly name: string;
  readonly generation: string;
  /** Null until a start that knows the key. */
  readonly keyFingerprint: string | null;
  readonly log: LogHead;
  readonly workspaces: readonly WorkspaceFacts[];
}

/** Source of a consistent copy; `sizeBytes` is the maximum size of the copy. */
interface LiveDatabase {
  readonly sizeBytes: number;
  /** @param path existing empty file; it is not synced @throws Error if the log lacks an acknowledged commit */
  copyInto(path: string): void;
  close(): void;
}

/** @param logHead path of the log head file, which may be missing */
export function openLive(path: string, logHead: string): LiveDatabase {
  if (!existsSync(path))
    throw new Error(`There is no database at ${path}. Set the data directory with --data-dir.`);
  const db = openReadOnly(path);
  return {
    sizeBytes:
      (number(db, 'PRAGMA page_count') - number(db, 'PRAGMA freelist_count')) *
      number(db, 'PRAGMA page_size'),
    copyInto(copy) {
      // The log head is written before a commit is acknowledged, so a copy taken after this read must be at least at this position.
      const acknowledged = existsSync(logHead) ? readLogHead(logHead) : null;
      db.prepare('PRAGMA synchronous = OFF').all();
      db.prepare('VACUUM INTO ?1').run([copy]);
      const { log } = readFacts(copy);
      if (acknowledged && log.position < acknowledged.position)
        throw new Error(
          `The database lost acknowledged writes: it ends at commit ${log.position}, but commit ${acknowledged.position} was acknowledged. ` +
            'It is damaged, and a backup of it would hide the loss. Restore an earlier backup.',
        );
    },
    close: () => void db.close(),
  };
}

/** @throws Error if the file is not a database of Tatami */
export function readFacts(path: string): DatabaseFacts {
  const db = openReadOnly(path);
  try {
    const schema = number(db, 'PRAGMA user_version');
    const [log] = db.prepare('SELECT position, hash FROM log_head WHERE id = 1').all() as LogHead[];
    const [installation] = db
      .prepare('SELECT name, generation, key_fingerprint AS keyFingerprint FROM installation WHERE id = 1')
      .all() as Pick<DatabaseFacts, 'name' | 'generation' | 'keyFingerprint'>[];
    if (!log || !installation)
      throw new Error(
        'The database has no log head or no row of the installation: it was not made by Tatami. Use a database that Tatami made.',
      );
    const workspaces = db
      .prepare(
        `SELECT w.workspace_id AS id, count(e.sequence) AS events, coalesce(max(e.sequence), 0) AS lastSequence
         FROM workspaces AS w LEFT JOIN events AS e ON e.workspace_id = w.workspace_id GROUP BY w.workspace_id`,
      )
      .all() as WorkspaceFacts[];
    return {
      schema,
      name: installation.name,
      generation: installation.generation,
      keyFingerprint: installation.keyFingerprint,
      log: { position: log.position, hash: log.hash },
      workspaces: workspaces.map(({ id, events, lastSequence }) => ({ id, events, lastSequence })),
    };
  } finally {
    db.close();
  }
}

/** Returns the archive files that a database references. */
export const readArchivedFiles = (path: string): ArchivedFile[] =>
  rowsOf<ArchivedFile>(
    path,
    'SELECT workspace_id AS workspaceId, first_sequence AS first, last_sequence AS last, sha256 FROM event_files',
  );

/** Returns the digests of the blobs that a database references, ascending; rows with an invalid digest are skipped. */
export const readContents = (path: string): Digest[] =>
  rowsOf<{ sha256: string }>(
    path,
    'SELECT DISTINCT sha256 FROM attachments WHERE deleted_at IS NULL AND sha256 IS NOT NULL ORDER BY sha256',
  ).flatMap(({ sha256 }) => digestIn(sha256) ?? []);

function rowsOf<R>(path: string, sql: string): R[] {
  const db = openReadOnly(path);
  try {
    return db.prepare(sql).all() as R[];
  } finally {
    db.close();
  }
}

/**
 * Returns the time at which a restore paused webhooks, plugins and schedules; null if nothing is paused. A server may have the file open.
 */
export function readPausedAtMs(path: string): number | null {
  const db = openReadOnly(path);
  try {
    const [row] = db.prepare('SELECT paused_at FROM installation WHERE id = 1').all() as {
      paused_at: number | null;
    }[];
    return row?.paused_at ?? null;
  } finally {
    db.close();
  }
}

/** Returns the faults that SQLite finds in a file that no process writes; empty if it is intact. */
export function findDamage(path: string): string[] {
  try {
    const db = openReadOnly(path);
    try {
      const rows = db.prepare('PRAGMA integrity_check(20)').all() as { integrity_check: string }[];
      return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok');
    } finally {
      db.close();
    }
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function openReadOnly(path: string): Connection {
  const db = new Database(readOnlyUri(path));
  db.prepare('PRAGMA busy_timeout = 5000').all();
  return db;
}

function number(db: Connection, sql: string): number {
  return Number(Object.values(db.prepare(sql).all()[0] as Record<string, number>)[0]);
}

interface FileFacts {
  /** Faults that SQLite finds in the file; empty if it is intact. */
  readonly faults: readonly string[];
  /** Log head of the database; null if Tatami did not make the file, or if it is too damaged to read. */
  readonly head: LogHead | null;
  readonly generation: string | null;
}

/** @param path file whose log was checkpointed. @throws libsql's error if the file is not a database */
export function checkFile(path: string): FileFacts {
  const db = new Database(immutableUri(path));
  try {
    const rows = db.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[];
    const faults = rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
    if (faults.length > 0) return { faults, head: null, generation: null };
    const [head] = db.prepare('SELECT position, hash FROM log_head').all() as LogHead[];
    const [row] = db.prepare('SELECT generation FROM installation').all() as { generation: string }[];
    return { faults, head: head ?? null, generation: row?.generation ?? null };
  } finally {
    db.close();
  }
}

/** Tables of sessions, password resets and pending sign-in challenges. */
export const signInTables = ['sessions', 'password_resets', 'challenges'] as const;

/**
 * Begins a new log generation in a database that no server has open, as a restore does, with a cut at the end
 * of each workspace's log. Consumers detect the change by the generation, and outgoing activity is paused
 * until `tatami release`. Drops the page checksums, so `adoptDatabase` must follow.
 * @param emptied tables to empty, if the schema has them
 * @returns the new generation
 */
export function beginHistory(path: string, nowMs: number, emptied: readonly string[] = []): string {
  const generation = randomBytes(8).toString('hex');
  dropSums(path);
  const db = new Database(path);
  try {
    db.exec('BEGIN IMMEDIATE');
    db.prepare('UPDATE installation SET generation = ?1, paused_at = ?2 WHERE id = 1').run([
      generation,
      BigInt(nowMs),
    ]);
    db.prepare(
      `INSERT INTO log_cuts (workspace_id, number, generation, after_sequence)
       SELECT w.workspace_id,
         1 + coalesce((SELECT max(c.number) FROM log_cuts AS c WHERE c.workspace_id = w.workspace_id), 0), ?1,
         coalesce((SELECT max(e.sequence) FROM events AS e WHERE e.workspace_id = w.workspace_id), 0)
       FROM workspaces AS w`,
    ).run([generation]);
    const there = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as {
      name: string;
    }[];
    for (const table of emptied)
      if (there.some(({ name }) => name === table)) db.exec(`DELETE FROM ${table}`);
    db.exec('COMMIT');
    return generation;
  } finally {
    db.close();
  }
}
