// Ways to a database beside the one of a server: to look at what it holds, to change it where no server runs, and what its schema
// should be.
import Database from 'libsql';
import { closeFolded } from './integrity/close-folded.ts';
import { uriToLook } from './integrity/uri.ts';
import { migrations } from './migrations/index.ts';

export type Connection = Database.Database;

/** Changes nothing, and makes nothing beside the file where nobody writes it. */
export function openToLook(path: string, isServed: boolean): Connection {
  const db = new Database(uriToLook(path, isServed));
  db.prepare('PRAGMA query_only = ON').all();
  // All that is read is of one moment, although a server writes meanwhile.
  db.exec('BEGIN');
  return db;
}

/** The log is folded in afterwards, with the checksums of what changed. The caller holds the directory's lock. */
export function changeOffline<T>(path: string, change: (db: Connection) => T): T {
  const db = new Database(path);
  try {
    for (const pragma of ['synchronous = FULL', 'wal_autocheckpoint = 0'])
      db.prepare(`PRAGMA ${pragma}`).all();
    return change(db);
  } finally {
    closeFolded(db, path);
  }
}

export interface SchemaEntry {
  readonly name: string;
  readonly type: string;
  readonly sql: string;
}

export const schemaEntries =
  "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name";

/** The schema that this program makes. */
export const latestSchema = migrations.length;

/** What the first migrations make of an empty database. */
export function schemaAt(version: number): SchemaEntry[] {
  return atSchema(version, (db) => db.prepare(schemaEntries).all() as SchemaEntry[]);
}

export interface ColumnFacts {
  readonly name: string;
  readonly type: string;
  /** SQL; null where a row must say it, or may leave it out. */
  readonly default: string | null;
  /** 1 where it cannot be null. */
  readonly required: 0 | 1;
  /** The table that it refers to; null for a column without a foreign key. */
  readonly refersTo: string | null;
}

/** The columns that each table has after the first migrations. */
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

/** Empty tables of this program's schema with their indexes, on the disk where they grow; nobody else sees them. */
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
