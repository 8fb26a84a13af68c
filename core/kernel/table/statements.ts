// Plain statements of a table. Names of columns and parameters are checked by type; a parameter has the name of its column.
import { type Params, type Statement, tenantStatement } from '../../platform/store/statement.ts';
import { type Op, type OpOptions, type Reads, type Scope, tenantOp } from '../../platform/store/store.ts';

type Name<R> = keyof R & string;

/** Statement that reads rows `R` with parameters `P`. */
interface Query<R, P> {
  readonly statement: Statement<R>;
  all(store: Reads, scope: Scope, params: P): Promise<R[]>;
  one(store: Reads, scope: Scope, params: P): Promise<R | undefined>;
}

/** Returns the op of one write. */
type Write<P> = (scope: Scope, params: P, options?: OpOptions) => Op;

/** @typeParam R values of a row by column, without the workspace */
export interface PlainStatements<R> {
  /** Reads columns of the rows that have the given values. @param end further SQL, such as the order */
  select<const C extends Name<R>, const B extends Name<R> = never>(
    name: string,
    columns: readonly C[],
    by: readonly B[],
    end?: string,
  ): Query<Pick<R, C>, Pick<R, B>>;
  /** Reads whole rows that have the given values. */
  selectAll<const B extends Name<R> = never>(
    name: string,
    by: readonly B[],
    end?: string,
  ): Query<R, Pick<R, B>>;
  /** Inserts a row: all columns, or the given ones, so that the others get their defaults. */
  insert(name: string): Write<R>;
  insert<const C extends Name<R>>(name: string, columns: readonly C[]): Write<Pick<R, C>>;
  /** Inserts a row, or sets columns of the row with the same key; without columns to set, leaves that row. */
  upsert<const C extends Name<R>, const S extends C>(
    name: string,
    columns: readonly C[],
    set: readonly S[],
  ): Write<Pick<R, C>>;
  /** Sets columns of the rows that have the given values. @param and further SQL condition */
  update<const S extends Name<R>, const B extends Name<R>>(
    name: string,
    set: readonly S[],
    by: readonly B[],
    and?: string,
  ): Write<Pick<R, S | B>>;
  /** Deletes the rows that have the given values. @param and further SQL condition */
  remove<const B extends Name<R>>(name: string, by: readonly B[], and?: string): Write<Pick<R, B>>;
  /** Returns names of columns for a statement written by hand. */
  names<const C extends Name<R>>(...columns: readonly C[]): string;
}

export function statementsOf<R>(
  table: string,
  facts: { readonly columns: readonly string[]; readonly key: readonly string[] },
): PlainStatements<R> {
  const select = (name: string, columns: readonly string[], by: readonly string[], end = '') =>
    queryOf(
      tenantStatement(`${table}.${name}`, `SELECT ${columns.join(', ')} FROM ${table} ${whereOf(by)} ${end}`),
    );
  const write = (name: string, sql: string): Write<Params> => {
    const statement = tenantStatement(`${table}.${name}`, sql);
    return (scope, params, options) => tenantOp(scope, statement, params, options);
  };
  const inserting = (columns: readonly string[]): string =>
    `INSERT INTO ${table} (workspace_id, ${columns.join(', ')}) VALUES (:ws, ${columns.map((column) => `:${column}`).join(', ')})`;
  const statements: PlainStatements<Params> = {
    select: select as PlainStatements<Params>['select'],
    selectAll: (name, by, end) => select(name, facts.columns, by, end) as never,
    insert: (name: string, columns = facts.columns) => write(name, inserting(columns)),
    upsert: (name, columns, set) =>
      write(
        name,
        `${inserting(columns)} ON CONFLICT (workspace_id, ${facts.key.join(', ')})
         DO ${set.length === 0 ? 'NOTHING' : `UPDATE SET ${set.map((column) => `${column} = excluded.${column}`).join(', ')}`}`,
      ),
    update: (name, set, by, and) =>
      write(
        name,
        `UPDATE ${table} SET ${set.map((column) => `${column} = :${column}`).join(', ')} ${whereOf(by, and)}`,
      ),
    remove: (name, by, and) => write(name, `DELETE FROM ${table} ${whereOf(by, and)}`),
    names: (...columns) => columns.join(', '),
  };
  return statements as unknown as PlainStatements<R>;
}

const whereOf = (by: readonly string[], and?: string): string =>
  [
    'WHERE workspace_id = :ws',
    ...by.map((column) => `${column} = :${column}`),
    ...(and === undefined ? [] : [`(${and})`]),
  ].join(' AND ');

const queryOf = <R>(statement: Statement<R>): Query<R, Params> => ({
  statement,
  all: (store, scope, params) => store.read(scope, statement, params),
  one: (store, scope, params) => store.readOne(scope, statement, params),
});
