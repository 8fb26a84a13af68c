// Checks the content of a database without valid page checksums: SQLite's integrity check, which does not detect damaged texts, and the
// encoding of every text, because libsql aborts the process on invalid UTF-8. Changes nothing.
import Database from 'libsql';
import { isUtf8 } from 'node:buffer';
import { uriToLook } from '../uri.ts';

const findingsMax = 20;

/** No process may write the database during the check. @returns findings; empty if the database is intact */
export function checkWhole(database: string): string[] {
  const db = new Database(uriToLook(database, false));
  try {
    return [...integrityOf(db), ...textsOf(db)].slice(0, findingsMax);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    db.close();
  }
}

type Connection = InstanceType<typeof Database>;

/** Reads columns as bytes, because a text may be damaged. */
function* rowsOf(db: Connection, sql: string): Generator<(Buffer | null)[]> {
  yield* db.prepare(sql).raw(true).iterate([]) as Iterable<(Buffer | null)[]>;
}

const textOf = (bytes: Buffer | null | undefined): string => bytes?.toString() ?? '';

function* integrityOf(db: Connection): Generator<string> {
  const sql = `SELECT CAST(integrity_check AS BLOB) FROM pragma_integrity_check(${findingsMax})`;
  for (const [said] of rowsOf(db, sql)) if (textOf(said) !== 'ok') yield textOf(said);
}

function* textsOf(db: Connection): Generator<string> {
  const tables = [
    ...rowsOf(db, "SELECT CAST(name AS BLOB) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"),
  ];
  for (const [table] of tables) yield* textsOfTable(db, textOf(table));
}

function* textsOfTable(db: Connection, table: string): Generator<string> {
  const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  const columnRows = rowsOf(
    db,
    `SELECT CAST(name AS BLOB) FROM pragma_table_info('${table.replaceAll("'", "''")}')`,
  );
  const columns = [...columnRows].map(([name]) => textOf(name));
  const asBytes = columns.map(
    (name) => `CASE typeof(${quoted(name)}) WHEN 'text' THEN CAST(${quoted(name)} AS BLOB) END`,
  );
  let row = 0;
  for (const values of rowsOf(db, `SELECT ${asBytes.join(', ')} FROM ${quoted(table)}`)) {
    row++;
    const bad = values.findIndex((value) => value !== null && !isUtf8(value));
    if (bad >= 0) yield `row ${row} of ${table} has a text in ${columns[bad]} that is not valid UTF-8`;
  }
}
