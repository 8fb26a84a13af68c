// What the doctor looks at: a data directory, served or not, through a connection that cannot write.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { holderOf } from '../store/data-dir.ts';
import { openArchived, type ArchivedEvents } from './archived.ts';
import { readKeyFile } from '../store/master-key.ts';
import { openToLook, type Connection } from '../store/looking.ts';

/** Subject of checks that look at rows alone. */
export type RowSubject = Pick<Subject, 'database' | 'rows'> & { readonly archived?: ArchivedEvents };

export interface Subject {
  readonly config: Config;
  readonly dir: string;
  readonly path: {
    readonly database: string;
    readonly logHead: string;
    readonly masterKey: string;
    readonly snapshots: string;
    readonly spool: string;
  };
  /** The process that serves the directory, where one does. */
  readonly servedBy: string | null;
  /** 32 bytes; null where the file is missing or holds something else. */
  readonly masterKey: Uint8Array | null;
  readonly nowMs: number;
  /** Throws where the database cannot be opened. Text is to be read as blobs: libsql ends the process for one that is no UTF-8. */
  database(): Connection;
  /** All rows of a query that reads no text that was not found to be whole. */
  rows<R>(sql: string, ...params: readonly (string | number | bigint)[]): R[];
  /** Reads old events in files. */
  readonly archived: ArchivedEvents;
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
    spool: join(dir, 'spool'),
  };
  let db: Connection | null = null;
  const servedBy = holderOf(dir);
  const database = (): Connection => (db ??= openExisting(path.database, servedBy !== null));
  const rows: Subject['rows'] = <R>(sql: string, ...params: readonly (string | number | bigint)[]) =>
    database()
      .prepare(sql)
      .all([...params]) as R[];
  return {
    config,
    dir,
    path,
    servedBy,
    masterKey: readKeyFile(path.masterKey),
    nowMs,
    database,
    rows,
    archived: openArchived(join(dir, 'archive'), rows),
    close() {
      db?.close();
      db = null;
    },
  };
}

function openExisting(path: string, isServed: boolean): Connection {
  if (!existsSync(path)) throw new Error(`There is no database at ${path}.`);
  return openToLook(path, isServed);
}
