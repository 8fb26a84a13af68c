// Opens databases outside the server: to inspect them, to change them offline, and to read the schema that the migrations produce.
import Database from 'libsql';
import { closeCheckpointed } from '../integrity/checkpointer.ts';
import { uriToLook } from '../integrity/uri.ts';
import { migrations } from '../migrations/index.ts';

export type Connection = Database.Database;

/** Opens a database for inspection. Changes nothing, and creates no files beside a database that no process writes. */
export function openToLook(path: string, isServed: boolean): Connection {
  const db = new Database(uriToLook(path, isServed));
  db.prepare('PRAGMA query_only = ON').all();
  // One transaction gives a consistent snapshot while a server writes.
  db.exec('BEGIN');
  return db;
}

/**
 * Applies a change, then checkpoints the log and updates the checksums of the changed pages. The caller holds the lock of the directory.
 */
export function changeOffline<T>(path: string, change: (db: Connection) => T): T {
  const db = new Database(path);
  try {
    for (const pragma of ['synchronous = FULL', 'wal_autocheckpoint = 0'])
      db.prepare(`PRAGMA ${pragma}`).all();
    return change(db);
  } finally {
    closeCheckpointed(db, path);
  }
}

export interface SchemaEntry {
  readonly name: string;
  readonly type: string;
  readonly sql: string;
}

export const schemaEntries =
  "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name";

/** Schema version of this build. */
export const latestSchema = migrations.length;

/** Returns the schema that the first `version` migrations create. */
export function schemaAt(version: number): SchemaEntry[] {
  return atSchema(version, (db) => db.prepare(schemaEntries).all() as SchemaEntry[]);
}

export interface ColumnFacts {
  readonly name: string;
  readonly type: string;
  /** SQL expression; null if the column has no default. */
  readonly default: string | null;
  /** 1 for NOT NULL columns. */
  readonly required: 0 | 1;
  /** Referenced table; null for a column without a foreign key. */
  readonly refersTo: string | null;
}

/** Returns the columns of each table after the first `version` migrations. */
export function columnsAt(version: number): ReadonlyMap<string, readonly ColumnFacts[]> {
  const known = columnsOfVersions.get(version) ?? readColumns(version);
  columnsOfVersions.set(version, known);
  return known;
}

const columnsOfVersions = new Map<number, ReadonlyMap<string, readonly ColumnFacts[]>>();

function readColumns(version: number): ReadonlyMap<string, readonly ColumnFacts[]> {
  const columns = atSchema(version, (db) => db.prepare(allColumns).all()) as (ColumnFacts & {
    readonly table: string;
  })[];
  return Map.groupBy(columns, ({ table }) => table);
}

const allColumns = `SELECT t.name AS "table", c.name, c.type, c.dflt_value AS "default", c."notnull" AS required,
    (SELECT f."table" FROM pragma_foreign_key_list(t.name) AS f WHERE f."from" = c.name) AS refersTo
  FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' ORDER BY t.name, c.cid`;

let latestEntries: readonly (SchemaEntry & { readonly table: string })[] | undefined;

/** Opens a private temporary database with empty tables of the latest schema and their indexes; SQLite moves it to disk when it grows. */
export function openScratch(tables: readonly string[]): Connection {
  latestEntries ??= atSchema(
    latestSchema,
    (db) => db.prepare(tableEntries).all() as typeof latestEntries & {},
  );
  const sql = latestEntries.filter(({ table }) => tables.includes(table)).map((entry) => entry.sql);
  const db = new Database('');
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; ${sql.join(';')}`);
  return db;
}

const tableEntries = `SELECT name, type, tbl_name AS "table", sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type <> 'table', name`;

function atSchema<T>(version: number, ask: (db: InstanceType<typeof Database>) => T): T {
  const db = new Database(':memory:');
  try {
    for (const { sql } of migrations.slice(0, version)) db.exec(sql);
    return ask(db);
  } finally {
    db.close();
  }
}
