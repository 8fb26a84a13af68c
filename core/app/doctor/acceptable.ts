// Preconditions of the fixes on the database, checked before anything is changed.
import { schemaOfFile } from '../../platform/store/integrity/recognise.ts';
import { latestSchema, schemaAt } from '../../platform/store/engine/looking.ts';
import { some } from './check.ts';
import type { Subject } from './subject.ts';

const wayBack = 'Restore a backup with `tatami restore`.';

/** Returns true if the header of the file contains a schema version. */
export const isDatabase = (path: string): boolean => schemaOfFile(path) > 0;

/** @throws Error if the file is not a database of Tatami */
export function requireDatabase(path: string): void {
  if (!isDatabase(path)) throw new Error(`${path} is missing, empty or not a Tatami database. ${wayBack}`);
}

/** @throws Error if the database lacks what a new log generation needs */
export function requireTables({
  path,
  rows,
}: {
  readonly path: Subject['path'];
  readonly rows: Subject['rows'];
}): void {
  const at = schemaOfFile(path.database);
  if (at > latestSchema)
    throw new Error(
      `${path.database} has schema ${at}, but this version supports up to ${latestSchema}. ${wayBack}`,
    );
  const existing = new Set(rows<{ name: string }>('SELECT name FROM sqlite_schema').map(({ name }) => name));
  const missing = schemaAt(at).filter(({ type, name }) => type === 'table' && !existing.has(name));
  const lacks =
    missing.length > 0
      ? missing.map(({ name }) => `table ${name}`)
      : ['log_head', 'installation']
          .filter((table) => rows(`SELECT 1 FROM ${table} WHERE id = 1`).length === 0)
          .map((table) => `the row of ${table}`);
  if (lacks.length > 0) throw new Error(`${path.database} lacks ${some(lacks)} of schema ${at}. ${wayBack}`);
}
