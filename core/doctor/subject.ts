// What the doctor looks at: a data directory, served or not, through a connection that cannot write.
import Database from 'libsql';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { holderOf } from '../store/data-dir.ts';

export interface Subject {
  readonly config: Config;
  readonly dir: string;
  readonly path: {
    readonly database: string;
    readonly logHead: string;
    readonly masterKey: string;
    readonly snapshots: string;
  };
  /** The process that serves the directory, where one does. */
  readonly servedBy: string | null;
  /** 32 bytes; null where the file is missing or holds something else. */
  readonly masterKey: Uint8Array | null;
  readonly nowMs: number;
  /** Throws where the database cannot be opened. Text is to be read as blobs: libsql ends the process for one that is no UTF-8. */
  database(): Database.Database;
  /** All rows of a query that reads no text that was not found to be whole. */
  rows<R>(sql: string, ...params: readonly (string | number | bigint)[]): R[];
  close(): void;
}

/** @throws Error where there is no such directory */
export function openSubject(config: Config, nowMs: number): Subject {
  const dir = config.dataDir;
  if (!existsSync(dir)) throw new Error(`There is no data directory at ${dir}: name it with --data-dir.`);
  const path = {
    database: join(dir, 'tatami.db'),
    logHead: join(dir, 'log-head'),
    masterKey: join(dir, 'master.key'),
    snapshots: join(dir, 'snapshots'),
  };
  let db: Database.Database | null = null;
  const servedBy = holderOf(dir);
  const database = (): Database.Database => (db ??= openForReading(path.database, servedBy !== null));
  return {
    config,
    dir,
    path,
    servedBy,
    masterKey: readKey(path.masterKey),
    nowMs,
    database,
    rows: <R>(sql: string, ...params: readonly (string | number | bigint)[]) =>
      database()
        .prepare(sql)
        .all([...params]) as R[],
    close() {
      db?.close();
      db = null;
    },
  };
}

function openForReading(path: string, isServed: boolean): Database.Database {
  if (!existsSync(path)) throw new Error(`There is no database at ${path}.`);
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  // Where nobody writes and there is no log, no index of the log is made beside the file.
  const mode = isServed || log > 0 ? 'mode=ro' : 'immutable=1';
  const db = new Database(`file:${encodeURI(path).replaceAll('?', '%3f').replaceAll('#', '%23')}?${mode}`);
  db.prepare('PRAGMA query_only = ON').all();
  return db;
}

function readKey(path: string): Uint8Array | null {
  if (!existsSync(path)) return null;
  const key = new Uint8Array(Buffer.from(readFileSync(path, 'utf8').trim(), 'base64'));
  return key.length === 32 ? key : null;
}
