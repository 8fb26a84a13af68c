// Declares a table: what its rows belong to, how long they stay, whether they are exported, and what a purge of an issue
// removes from them. The migrations declare the columns; their types and keys are generated from them.
import type { Contract } from '../contract/contract.ts';
import { schema, type Schema, type TableName } from '../../platform/store/generated/schema.ts';
import type { SqlRow, Statement, Value } from '../../platform/store/statement.ts';
import type { Mentions } from '../../platform/lib/ids.ts';
import type { Format } from './formats.ts';
import { type PlainStatements, statementsOf } from './statements.ts';

type ColumnOf<N extends TableName> = Exclude<keyof Schema[N], 'workspace_id'> & string;

/** Settings of retention, each a number of days. */
export type RetentionSetting = 'runs' | 'recordings' | 'undo' | 'deliveries' | 'deleted';

/** Column with the id of the owner, for the rows of a partial index: its name and its condition. */
interface OwnerColumn<C> {
  readonly by: C;
  readonly index: string;
  readonly where: string;
}

/** Columns with the id of the owner, by its table. */
type Owners<C> = { readonly [T in TableName]?: C | OwnerColumn<C> | readonly C[] };

type Retention<C> =
  /** Rows are removed this many days after the time in `since`, which is null while they are in use. */
  | {
      readonly days: RetentionSetting;
      readonly since: C;
      /** True if rows are found by their ids, because no index has the time. */
      readonly byId?: true;
      /** Rows that a step selects together, because each has many parts. */
      readonly atOnce?: number;
      /** Statements that record facts about the rows, run before their removal. @param gone SELECT of the rows */
      readonly notes?: (gone: string) => readonly Statement<unknown>[];
    }
  /** Rows are removed once one of the SQL conditions over the row `t` and the time `:before` holds. */
  | { readonly days: RetentionSetting | null; readonly when: readonly string[] }
  /** Rows are removed at this time. */
  | { readonly expires: C }
  /** Rows are removed in the batch that removes their owner. */
  | { readonly withOwner: true }
  /** Rows are removed as soon as one of these owners is deleted, although its own row stays for some time. */
  | { readonly untilDeleted: TableName | readonly TableName[] }
  /** The reason why the number of rows is bounded, by the writes of the feature. */
  | { readonly bound: string }
  /** The reason why rows are never removed. */
  | { readonly forever: string };

export interface Export<C extends string> {
  /** Position in the file: before or after the other tables, among which referenced rows come first. */
  readonly place?: 'first' | 'last';
  /** SQL condition for the exported rows, aliased as `t`; default all. */
  readonly where?: string;
  /** Exported columns; default all. An import sets the others to the SQL expressions in `arrives`. */
  readonly columns?: readonly C[];
  readonly arrives?: { readonly [K in C]?: string };
  /** Formats that follow neither from the contract, a foreign key nor a common name (`version`, `created_at`). */
  readonly formats?: { readonly [K in C]?: Format };
}

export interface PurgedIssues {
  readonly ids: ReadonlySet<string>;
  readonly isAbout: Mentions;
}

/** Search of the rows that were written since the creation of a purged issue, and removal of what they quote of it. */
interface Forgetting<N extends TableName, C extends ColumnOf<N>> {
  /** Columns that are searched, as `forget` gets them. */
  readonly columns: readonly C[];
  /** Rows per step; few if a row may have megabytes. */
  readonly atOnce: number;
  /** True if the rows name events: an event of the issue is a mention. */
  readonly byEvents?: true;
  /** Column with the id of an event that the row is about. */
  readonly event?: C;
  /** SQL condition for rows about events of the issue, with `:events`, a JSON array of their ids. Only with `sets`. */
  readonly ofEvents?: string;
  /** True if a BLOB is text; otherwise it is text compressed with zstd. */
  readonly isPlain?: true;
  /** Table with the same key: a row whose row there mentions an issue mentions it too. */
  readonly with?: TableName;
  /** SQL expressions for the new values of columns. Without them and `forget`, the row is removed. */
  readonly sets?: { readonly [K in C]?: string };
  /** Returns new values of the columns without an expression. */
  forget?(
    row: { readonly [K in C]: Schema[N][K] },
    purged: PurgedIssues,
  ): { readonly [K in C]?: Schema[N][K] };
}

/**
 * Quotations of issues in rows that stay when an issue is purged. `none` states why there are none, `elsewhere` which code
 * removes them, `stays` why they remain. Rows with `of` are removed, or get new values, with what is removed from their row of that
 * table.
 */
type Quotes<N extends TableName> =
  | { readonly none: string }
  | { readonly elsewhere: string }
  | { readonly stays: string }
  | {
      readonly of: TableName;
      readonly by: ColumnOf<N>;
      readonly where?: string;
      readonly sets?: { readonly [C in ColumnOf<N>]?: string };
    }
  | Forgetting<N, ColumnOf<N>>;

/** `Forgetting` of any table. */
export interface AnyForgetting {
  readonly columns: readonly string[];
  readonly atOnce: number;
  readonly byEvents?: true;
  readonly event?: string;
  readonly ofEvents?: string;
  readonly isPlain?: true;
  readonly with?: TableName;
  readonly sets?: Readonly<Record<string, string>>;
  forget?(row: SqlRow, purged: PurgedIssues): Readonly<Record<string, Value>>;
}

/** Rows that cannot be used: an SQL condition over the table, and what they are, in the plural. */
interface Orphans {
  readonly what: string;
  readonly where: string;
}

/**
 * Source that determines a row, so that the doctor can compare it. `own`: the last event of its object. `issue`: events of its
 * issue. `derived`: other rows. `local`: nothing, for a reason.
 */
type Explanation = 'own' | 'issue' | 'derived' | { readonly local: string };

/** Comparison of columns with other rows. */
interface Derived<C> {
  /** Columns that it determines; none if it only bounds their values. */
  readonly columns: readonly C[];
  /** Disagreeing rows in the plural, as the end of a sentence that begins with their number. */
  readonly what: string;
  /** SQL from FROM on that selects the disagreeing rows. */
  readonly sql: string;
  /** Id of the fix of the doctor; without one, a backup must be restored. */
  readonly repairedBy?: string;
}

interface TableSpec<N extends TableName> {
  /** Contract of the stored objects, from which their events and most columns follow. */
  readonly contract?: Contract;
  /** `workspace`: rows stand alone in a workspace. `server`: rows belong to the installation. */
  readonly owner: 'workspace' | 'server' | Owners<ColumnOf<N>>;
  /** Objects that are not removed while the row exists: column with their id, by table. */
  readonly retains?: { readonly [T in TableName]?: ColumnOf<N> };
  readonly retention: Retention<ColumnOf<N>>;
  readonly exported: Export<ColumnOf<N>> | { readonly not: string };
  readonly quotes: Quotes<N>;
  readonly log: Explanation;
  /** Columns that the log does not record, or not completely, with the reason. */
  readonly unlogged?: { readonly [C in ColumnOf<N>]?: string };
  /** Values that follow from other rows. */
  readonly derived?: readonly Derived<ColumnOf<N>>[];
  /** Prefix of the ids in the first column of the key, if each begins with the creation time, by which old rows are found. */
  readonly idPrefix?: string;
  /** True if a row may have megabytes, so that a step removes few. */
  readonly isLarge?: true;
  /** Unusable rows other than those whose owner is missing. */
  readonly orphans?: readonly Orphans[];
}

/** Column of a table that names a row of another one. */
export interface Link {
  readonly table: TableName;
  readonly by: string;
  readonly index?: string;
  readonly where?: string;
}

/** Declaration of a table, with the names of its columns as plain texts. */
export interface Table<N extends TableName = TableName> {
  readonly name: N;
  readonly contract: Contract | null;
  /** Columns of the key without the workspace. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** True if the key has no workspace. */
  readonly isGlobal: boolean;
  readonly isOfServer: boolean;
  readonly owners: readonly Link[];
  readonly retains: readonly Link[];
  /** Columns with a foreign key. */
  readonly references: Readonly<Record<string, TableName>>;
  readonly retention: Retention<string>;
  readonly exported: Export<string> | { readonly not: string };
  readonly quotes:
    | { readonly none: string }
    | { readonly elsewhere: string }
    | { readonly stays: string }
    | {
        readonly of: TableName;
        readonly by: string;
        readonly where?: string;
        readonly sets?: Readonly<Record<string, string>>;
      }
    | AnyForgetting;
  readonly log: Explanation;
  readonly unlogged: Readonly<Record<string, string>>;
  readonly derived: readonly Derived<string>[];
  readonly idPrefix: string | null;
  readonly isLarge: boolean;
  readonly orphans: readonly Orphans[];
}

/** Values of a row by column, without the workspace. */
type Row<N extends TableName> = Omit<Schema[N], 'workspace_id'>;
/** Row of a table. */
export type RowOf<T> = T extends PlainStatements<infer R> ? Readonly<R> : never;

export interface DefinedTable<N extends TableName, R> extends Table<N>, PlainStatements<R> {
  /** Narrows the types of columns, such as a text to some words. */
  typed<V extends Partial<R>>(): DefinedTable<N, Omit<R, keyof V> & V>;
}

export function defineTable<const N extends TableName>(name: N, spec: TableSpec<N>): DefinedTable<N, Row<N>> {
  const { key, columns, isGlobal = false, references = {} } = schema[name];
  const { owner, retains = {}, unlogged = {} } = spec;
  const facts = { key: key.split(' '), columns: columns.split(' ') };
  const table = {
    ...spec,
    ...facts,
    ...statementsOf<Row<N>>(name, facts),
    name,
    contract: spec.contract ?? null,
    isGlobal,
    isOfServer: owner === 'server',
    owners: typeof owner === 'string' ? [] : linksOf(owner),
    retains: linksOf(retains),
    references,
    unlogged: unlogged as Readonly<Record<string, string>>,
    derived: spec.derived ?? [],
    idPrefix: spec.idPrefix ?? null,
    isLarge: spec.isLarge ?? false,
    orphans: spec.orphans ?? [],
    typed: () => table,
  } as unknown as DefinedTable<N, Row<N>>;
  return table;
}

function linksOf<C extends string>(owners: Owners<C>): Link[] {
  return (Object.entries(owners) as [TableName, C | OwnerColumn<C> | readonly C[]][]).flatMap(
    ([table, columns]) => {
      if (typeof columns === 'string') return [{ table, by: columns }];
      return 'by' in columns ? [{ table, ...columns }] : columns.map((by) => ({ table, by }));
    },
  );
}

/** Sorts tables so that each comes after those that it depends on, and otherwise in the given order. */
export function dependenciesFirst(
  tables: readonly Table[],
  dependenciesOf: (table: Table) => readonly Table[],
): Table[] {
  const sorted = new Set<Table>();
  const visited = new Set<Table>();
  const visit = (table: Table): void => {
    if (visited.has(table)) return;
    visited.add(table);
    dependenciesOf(table).forEach(visit);
    sorted.add(table);
  };
  tables.forEach(visit);
  return [...sorted];
}
