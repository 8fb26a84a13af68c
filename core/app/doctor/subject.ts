// Opens the data directory that the doctor checks, over a read-only connection, with or without a running
// server.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ArchivedEvents, CheckSubject, ReadRows } from '../../kernel/checks.ts';
import { partsIn } from '../../kernel/events/log/log.ts';
import { type Connection, openToLook } from '../../platform/store/engine/looking.ts';
import { type ArchivedFile, readArchivedSync } from '../../platform/store/files/archive.ts';
import { holderOf } from '../../platform/store/files/data-dir.ts';
import { readKeyFile } from '../../platform/store/files/installation.ts';
import type { Config } from '../config/config.ts';

export interface Subject extends CheckSubject {
  readonly config: Config;
  readonly path: {
    readonly database: string;
    readonly logHead: string;
    readonly masterKey: string;
    readonly snapshots: string;
    readonly walArchive: string;
  };
  readonly archived: ArchivedEvents;
  close(): void;
}

/** @throws Error if the directory does not exist */
export function openSubject(config: Config, nowMs: number): Subject {
  const dir = config.dataDir;
  if (!existsSync(dir)) throw new Error(`The data directory ${dir} does not exist. Set it with --data-dir.`);
  const path = {
    database: join(dir, 'tatami.db'),
    logHead: join(dir, 'log-head'),
    masterKey: join(dir, 'master.key'),
    snapshots: join(dir, 'snapshots'),
    walArchive: join(dir, 'spool'),
  };
  let db: Connection | null = null;
  const servedBy = holderOf(dir);
  const database = (): Connection => (db ??= openExisting(path.database, servedBy !== null));
  const rows = rowReader(database);
  return {
    config,
    egressAllow: config.egressAllow,
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

/**
 * Returns a function that reads rows and prepares each SQL text once: a check reads an event for every object, and a statement
 * holds native memory until the event loop turns.
 */
export function rowReader(database: () => Connection): ReadRows {
  const prepared = new Map<string, ReturnType<Connection['prepare']>>();
  return <R>(sql: string, ...params: readonly (string | number | bigint)[]) => {
    const statement = prepared.get(sql) ?? database().prepare(sql);
    prepared.set(sql, statement);
    return statement.all([...params]) as R[];
  };
}

function openExisting(path: string, isServed: boolean): Connection {
  if (!existsSync(path))
    throw new Error(`The database ${path} does not exist. Set the data directory with --data-dir.`);
  return openToLook(path, isServed);
}

/**
 * Reads archived events one by one for the checks. Caches one file at a time, so read events in order.
 * @param folder `archive` of the data directory
 */
function openArchived(folder: string, rows: Subject['rows']): ArchivedEvents {
  let lasts: ReadonlyMap<string, number> | undefined;
  let open: { readonly name: string; readonly texts: ReadonlyMap<number, string> | null } | undefined;

  const unread = new Set<string>();

  const lastOf = (workspaceId: string): number => {
    lasts ??= new Map(
      rows<{ id: string; last: number }>(
        'SELECT workspace_id AS id, max(last_sequence) AS last FROM event_files GROUP BY 1',
      ).map(({ id, last }) => [id, last]),
    );
    return lasts.get(workspaceId) ?? 0;
  };
  const read = (workspaceId: string, first: number): ReadonlyMap<number, string> | null => {
    const [file] = rows<ArchivedFile>(
      `SELECT workspace_id AS workspaceId, first_sequence AS first, last_sequence AS last, sha256 FROM event_files
       WHERE workspace_id = ?1 AND first_sequence = ?2`,
      workspaceId,
      first,
    );
    try {
      return file ? readArchivedSync(folder, file) : null;
    } catch {
      // The `archive` check reports the reason.
      return null;
    }
  };
  return {
    holds: (workspaceId, sequence) => sequence <= lastOf(workspaceId),
    dataOf(workspaceId, first, sequence) {
      const name = `${workspaceId} ${first}`;
      if (open?.name !== name) open = { name, texts: read(workspaceId, first) };
      const text = open.texts?.get(sequence);
      if (text !== undefined) return partsIn(text).data;
      unread.add(`${workspaceId} ${sequence}`);
      return null;
    },
    get unread() {
      return unread.size;
    },
  };
}
