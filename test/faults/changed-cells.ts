// Changes single cells of the tables that the doctor's replay covers, each in a transaction that is rolled back.
import Database from 'libsql';
import { contracts } from '../../core/features/contracts.ts';
import { structure } from '../../core/app/doctor/database-checks.ts';
import { derived } from '../../core/app/doctor/row-checks.ts';
import { rowReader } from '../../core/app/doctor/subject.ts';
import { replay } from '../../core/app/doctor/replay.ts';
import { contractsOfServer, tableOf, tables } from '../../core/features/tables.ts';
import type { TableName } from '../../core/platform/store/generated/schema.ts';
import { storedModels } from '../../core/app/features.ts';
import type { Random } from '../random.ts';
import type { Finding, RowSubject } from '../../core/kernel/checks.ts';

type Value = string | number | null;

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
}

/** Every column that the event log or other rows determine, according to the declarations of tables. */
export function determinedColumns(db: Database.Database): Column[] {
  return tables.flatMap(({ name: table, log, unlogged, derived }) => {
    if (typeof log === 'object' || table === 'search_index') return [];
    const byRows = new Set(derived.flatMap(({ columns }) => columns));
    return (db.prepare(`PRAGMA table_info(${table})`).all() as Omit<Column, 'table'>[])
      .map((column) => ({ ...column, table }))
      .filter(({ name }) => name !== 'workspace_id' && !(name in unlogged))
      .filter(({ name }) => log !== 'derived' || byRows.has(name));
  });
}

/**
 * @returns a description of the change if the doctor misses it; null if it finds it, or if no row can be changed in
 * this way
 */
export function missedChange(db: Database.Database, column: Column, random: Random): string | null {
  const { table, name } = column;
  const rows = db.prepare(`SELECT rowid AS at, * FROM ${table}`.replace('rowid AS at, ', '')).all() as Record<
    string,
    Value
  >[];
  const possible = rows.filter((row) => isLogged(column, row));
  if (possible.length === 0) return null;
  const row = random.of(possible);
  const value = changed(row[name] ?? null, column, random);
  const { key } = tableOf[table as TableName];
  const where = key.map((column, at) => `${column} = ?${at + 2}`).join(' AND ');
  const keys = key.map((column) => row[column]!);
  db.exec('BEGIN');
  try {
    db.prepare(`UPDATE ${table} SET ${name} = ?1 WHERE ${where}`).run([value, ...keys]);
    const detected = isDetected(db);
    return detected ? null : `${table}.${name} of ${String(keys)}: ${String(row[name])} → ${String(value)}`;
  } catch (thrown) {
    // A constraint of the table refuses the change.
    if (/^SQLITE_(CONSTRAINT|MISMATCH)/.test((thrown as { code?: string }).code ?? '')) return null;
    throw thrown;
  } finally {
    db.exec('ROLLBACK');
  }
}

/**
 * Tables whose rows end with an event, or with a deleted object: SQL condition for rows that exist according to the
 * log.
 */
const stays: Readonly<Record<string, string>> = {
  inbox_items: 'o.archived_at IS NULL',
  reactions:
    'NOT EXISTS (SELECT 1 FROM comments AS c WHERE c.id = o.subject_id AND c.deleted_at IS NOT NULL)',
};

/**
 * @returns a description of the row if the doctor misses its deletion; null if it finds it, or if no row can be deleted
 * in this way
 */
export function missedDeletion(db: Database.Database, table: string, random: Random): string | null {
  const columns = (db.prepare(`PRAGMA table_info(${table})`).all() as { name: string }[]).map(
    ({ name }) => name,
  );
  const ends = ['issue_id', 'from_id'].filter((column) => columns.includes(column));
  const where = [
    stays[table] ?? '1',
    ...(columns.includes('deleted_at') ? ['o.deleted_at IS NULL'] : []),
    ...ends.map(
      (column) =>
        `NOT EXISTS (SELECT 1 FROM issues AS i WHERE i.id = o.${column} AND i.deleted_at IS NOT NULL)`,
    ),
  ].join(' AND ');
  const ids = db.prepare(`SELECT o.id FROM ${table} AS o WHERE ${where}`).pluck().all() as string[];
  if (ids.length === 0) return null;
  const id = random.of(ids);
  db.exec('BEGIN');
  try {
    db.prepare(`DELETE FROM ${table} WHERE id = ?1`).run([id]);
    const said = replay.look(subjectOf(db)).map(({ message }) => message);
    const isMissed = said.some(
      (message) => message.startsWith(`Rows are missing from ${table}`) && message.includes(id),
    );
    return isMissed ? null : `${table} ${id}: ${said.join(' ')}`;
  } finally {
    db.exec('ROLLBACK');
  }
}

/** Tables whose rows are all recorded by the log until they end. */
export const loggedTables: readonly string[] = contracts.flatMap(({ name }) =>
  contractsOfServer.includes(name) ? [] : (storedModels.get(name)?.table ?? []),
);

/** Events of a personal view do not contain its content. */
function isLogged({ table, name }: Column, row: Readonly<Record<string, Value>>): boolean {
  const hidden = ['name', 'description', 'sort', 'layout', 'group_by', 'filter_json'];
  return table !== 'views' || row.visibility === 'shared' || !hidden.includes(name);
}

const subjectOf = (db: Database.Database): RowSubject => ({ database: () => db, rows: rowReader(() => db) });

function isDetected(db: Database.Database): boolean {
  try {
    return [replay, structure, derived].some(({ look }) =>
      (look(subjectOf(db)) as readonly Finding[]).some(({ level }) => level !== 'note'),
    );
  } catch {
    return true;
  }
}

function changed(value: Value, { table, name, type, notnull }: Column, random: Random): Value {
  // Without its deletion time, a removed install that did not run looks unchanged.
  const isRemoval = table === 'plugins' && name === 'deleted_at';
  // Events record the removal of a relation, but not its time.
  if (table === 'relations' && name === 'deleted_at' && value !== null) return null;
  if (value !== null && notnull === 0 && !isRemoval && random.once(3)) return null;
  if (name.endsWith('_json'))
    return JSON.stringify(changedJson(value === null ? null : JSON.parse(String(value))));
  if (type === 'TEXT') return value === null ? 'x' : `${value}x`;
  return value === null ? 1 : Number(value) === 1 ? 0 : Number(value) + 1;
}

/** The same JSON value with one more or one different part. */
function changedJson(value: unknown): unknown {
  if (Array.isArray(value)) return [...value, 'x'];
  if (value !== null && typeof value === 'object') return { ...value, x: 1 };
  return value === 'x' ? 'y' : 'x';
}
