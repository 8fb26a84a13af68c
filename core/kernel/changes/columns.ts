// Maps the fields of an entity to the columns of its table, to read and write rows.
import type { SqlRow, Value } from '../../platform/store/statement.ts';
import type { Entity } from './change.ts';

/** Mapping of one value. With `select` but no `column`, the value is computed on read and written by `related`. */
export interface Column<T = unknown> {
  readonly column?: string;
  readonly select?: string;
  /** Field whose value is written, if not the mapped one. */
  readonly from?: string;
  read?(value: Value): unknown;
  write?(value: unknown): Value;
  /** Phantom type of the value. */
  readonly type?: T;
}

export const plain = <T>(column: string): Column<T> => ({ column });

export const json = <T>(column: string): Column<T> => ({
  column,
  read: (value) => (value === null ? null : JSON.parse(String(value))),
  write: (value) => (value === null ? null : JSON.stringify(value)),
});

export const flag = (column: string): Column<boolean> => ({
  column,
  read: (value) => value === 1,
  write: (value) => (value ? 1 : 0),
});

/** Select list of some fields, and a reader of its rows. `id` is always included. */
export interface PickedFields {
  readonly select: string;
  read(row: SqlRow): object;
}

export interface Columns<E extends Entity> extends PickedFields {
  read(row: SqlRow): E;
  /** Names of the columns that a write of a row sets. */
  readonly written: readonly string[];
  /** Returns the values to bind, by column; includes the id. */
  values(entity: E): Record<string, Value>;
  pick(names: readonly string[]): PickedFields;
}

/** @param bySql columns whose values an expression of the insert computes: they are written without a bound value */
export function columnsOf<E extends Entity>(
  fields: Readonly<Record<string, string | Column>>,
  bySql: ReadonlySet<string>,
): Columns<E> {
  const all = Object.entries(fields).map(([name, field]) => {
    const column: Column = typeof field === 'string' ? { column: field } : field;
    return { name, ...column, alias: column.column ?? `x_${name}` };
  });
  const written = all.filter(({ column }) => column !== undefined);
  const bound = written.filter(({ alias }) => !bySql.has(alias));

  // A copy of a full template has all properties from the start, which is cheaper than adding them one by one.
  const empty = Object.fromEntries(
    ['id', 'version', ...all.map(({ name }) => name)].map((name) => [name, null]),
  );

  const readInto = (entity: Record<string, unknown>, row: SqlRow, some: typeof all): object => {
    for (const { name, alias, read } of some) {
      const value = row[alias] ?? null;
      entity[name] = read ? read(value) : value;
    }
    return entity;
  };

  return {
    select: [
      'id',
      'version',
      ...all.map(({ select, alias }) => (select ? `${select} AS ${alias}` : alias)),
    ].join(', '),
    read: (row) => readInto({ ...empty, id: row.id, version: row.version }, row, all) as E,
    written: written.map(({ alias }) => alias),
    values(entity) {
      const values: Record<string, Value> = { id: entity.id };
      for (const { name, alias, from, write } of bound) {
        const value = entity[(from ?? name) as keyof E];
        values[alias] = write ? write(value) : (value as Value);
      }
      return values;
    },
    pick(names) {
      const some = all.filter(({ name }) => names.includes(name));
      return {
        select: ['id', ...some.map(({ alias }) => alias)].join(', '),
        read: (row) => readInto({ id: row.id }, row, some),
      };
    },
  };
}
