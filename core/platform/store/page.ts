// Keyset pagination over one tenant table: the next page starts after the sort values of the last row, so its cost does not grow with the
// table, and concurrent writes neither skip nor repeat existing rows. A page ends after a number of rows, or after the row that exceeds a
// number of bytes: long columns are read only for rows that the page shows.
import { decodeCursor, encodeCursor, type CursorValue } from '../lib/cursor.ts';
import type { Sealing } from '../lib/secrets/sealing.ts';
import { composedStatement, type SqlRow, type Value } from './statement.ts';
import type { Scope, Store } from './store.ts';

/** Condition over the columns of the table. The caller chooses the parameter names; values are never part of the text. */
export interface Condition {
  readonly sql: string;
  readonly params: Readonly<Record<string, Value>>;
  /**
   * Select of `listed_id` and `listed_at` that an index returns in creation order: the id (once) and the creation time of every row that
   * passes, and possibly of others. Used when the list is sorted by creation time; otherwise omitted together with its own parameters.
   */
  readonly listed?: { readonly sql: string; readonly params: Readonly<Record<string, Value>> };
}

export interface SortKey {
  /** A column or expression that is never NULL. */
  readonly sql: string;
  readonly direction: 'asc' | 'desc';
  readonly params?: Readonly<Record<string, Value>>;
}

export interface PageQuery {
  readonly table: string;
  readonly select: string;
  readonly where: readonly Condition[];
  /** The id is appended as the last key, in the direction of the key before it. */
  readonly order: readonly SortKey[];
  readonly limit: number;
  readonly after: string | undefined;
  /** Sort values after which the page begins, with the id as the last; replaces a cursor. */
  readonly beyond?: readonly CursorValue[];
  /**
   * Request parameters that identify the list: a cursor is valid only for a list with the same parameters. Excludes the ids that names
   * resolve to, and the current time, because both change between pages.
   */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Long columns that the caller does not need: they return empty and do not count toward the byte limit. */
  readonly without?: readonly string[];
}

interface PageInfo {
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
}

export interface Page<T> {
  readonly data: T[];
  readonly pageInfo: PageInfo;
}

/** Bytes of long columns after which a page ends. */
export const pageBytesMax = 2 * 1024 * 1024;
/** Up to this size a long column is read with its row (bytes). */
const alongBytesMax = 8 * 1024;

/** `next` is the first row after the page. @throws ApiError invalid_cursor, budget_exceeded, rate_limited */
export async function readPage(
  store: Store,
  sealing: Sealing,
  scope: Scope,
  query: PageQuery,
): Promise<Page<SqlRow> & { readonly next: SqlRow | undefined }> {
  const { from, byId, order, params: ofSource } = sourceOf(query);
  const where = ['workspace_id = :ws', ...byId, ...query.where.map((condition) => condition.sql)];
  const params: Record<string, Value> = Object.assign(
    {},
    ofSource,
    ...query.where.map((condition) => condition.params),
    ...order.map((key) => key.params),
  );
  const list = listOf(scope, query);
  const values =
    query.beyond ?? (query.after === undefined ? null : decodeCursor(sealing, list, query.after));
  if (values) {
    values.forEach((value, index) => (params[`k${index}`] = value));
    where.push(beyond(order));
  }
  const keys = order.map((key, index) => `${key.sql} AS k${index}`).join(', ');
  const { along, long } = columnsOf(query.select, query.without ?? []);
  const sql = `SELECT ${along}, ${keys} FROM ${from} WHERE ${where.join(' AND ')}
    ORDER BY ${order.map((key) => `${key.sql} ${key.direction}`).join(', ')} LIMIT :limit`;
  const terms = query.where.map((condition) => condition.sql);
  const rows = await store.read<SqlRow>(scope, composedStatement<SqlRow>(sql, terms), {
    ...params,
    limit: query.limit + 1,
  });
  const { pageRows, partial } = upToBytes(rows.slice(0, query.limit), long);
  const hasNextPage = rows.length > pageRows.length;
  const data = partial.size === 0 ? pageRows : await withLong(store, scope, query, pageRows, partial);
  const last = pageRows.at(-1);
  const endCursor = last
    ? encodeCursor(
        sealing,
        list,
        order.map((_, index) => last[`k${index}`] as CursorValue),
      )
    : null;
  return { data, pageInfo: { hasNextPage, endCursor }, next: rows[pageRows.length] };
}

/** Sorts the request parameters, because a cursor stays valid if only their order changes. */
export function sortedParameters(
  parameters: Readonly<Record<string, unknown>>,
): [name: string, value: unknown][] {
  return Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Identity of the list, to which its cursors are bound. */
function listOf({ workspaceId }: Scope, { table, parameters, order }: PageQuery): string {
  return `${workspaceId} ${table} ${JSON.stringify([sortedParameters(parameters), order])}`;
}

interface Source {
  readonly from: string;
  /** Conditions that join the table to the `listed` subselect. */
  readonly byId: readonly string[];
  readonly order: readonly SortKey[];
  readonly params: Readonly<Record<string, Value>>;
}

function sourceOf({ table, where, order }: PageQuery): Source {
  const direction = order.at(-1)?.direction ?? 'asc';
  const listed = where.find((condition) => condition.listed !== undefined)?.listed;
  if (listed === undefined || order.length !== 1 || order[0]?.sql !== 'created_at')
    return { from: table, byId: [], order: [...order, { sql: 'id', direction }], params: {} };
  return {
    // CROSS JOIN fixes the join order against the planner's choice.
    from: `(${listed.sql}) CROSS JOIN ${table}`,
    byId: ['id = listed_id'],
    order: [
      { sql: 'listed_at', direction },
      { sql: 'listed_id', direction },
    ],
    params: listed.params,
  };
}

/** Uses a row value comparison if all keys have one direction, so that an index can seek; else the expanded form. Parameters: k0, k1, … */
export function beyond(order: readonly SortKey[]): string {
  const directions = new Set(order.map((key) => key.direction));
  if (directions.size === 1) {
    const sign = directions.has('desc') ? '<' : '>';
    return `(${order.map((key) => key.sql).join(', ')}) ${sign} (${order.map((_, index) => `:k${index}`).join(', ')})`;
  }
  const branches = order.map((key, index) => {
    const equal = order.slice(0, index).map((earlier, i) => `${earlier.sql} = :k${i}`);
    return `(${[...equal, `${key.sql} ${key.direction === 'desc' ? '<' : '>'} :k${index}`].join(' AND ')})`;
  });
  return `(${branches.join(' OR ')})`;
}

/** Column names of user-controlled length, as they appear in a select list. */
const longColumn = /(?<=^|,\s*)(?:description|body|notes|\w+_json)(?=,|$)/g;

interface Columns {
  /** Select list that returns the byte length of a long column in place of its value. */
  readonly along: string;
  readonly long: readonly string[];
}
/** Columns by select list; the number of select lists is bounded by the code. */
const knownColumns = new Map<string, Columns>();

function columnsOf(select: string, without: readonly string[]): Columns {
  const key = without.length === 0 ? select : `${without.join()} ${select}`;
  const known = knownColumns.get(key);
  if (known) return known;
  const long: string[] = [];
  const along = select.replaceAll(longColumn, (column) => {
    if (without.includes(column)) return `'' AS ${column}`;
    long.push(column);
    const length = `octet_length(${column})`;
    return `CASE WHEN ${length} > ${alongBytesMax} THEN ${length} ELSE ${column} END AS ${column}`;
  });
  const created = { along, long };
  knownColumns.set(key, created);
  return created;
}

/** Returns the rows of a page, and the ids of rows whose long columns are missing. */
function upToBytes(
  rows: readonly SqlRow[],
  long: readonly string[],
): { pageRows: SqlRow[]; partial: ReadonlySet<Value> } {
  const pageRows: SqlRow[] = [];
  const partial = new Set<Value>();
  let bytes = 0;
  for (const row of rows) {
    if (bytes > pageBytesMax) break;
    pageRows.push(row);
    for (const column of long) {
      const value = row[column];
      if (typeof value === 'number') partial.add(row.id!);
      bytes += typeof value === 'number' ? value : typeof value === 'string' ? value.length : 0;
    }
  }
  return { pageRows, partial };
}

/** Reads the missing long columns. Omits rows that were deleted meanwhile. */
async function withLong(
  store: Store,
  scope: Scope,
  query: PageQuery,
  rows: readonly SqlRow[],
  partial: ReadonlySet<Value>,
): Promise<SqlRow[]> {
  const sql = `SELECT ${query.select} FROM ${query.table} WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))`;
  const ids = JSON.stringify([...partial]);
  const whole = await store.read<SqlRow>(scope, composedStatement<SqlRow>(sql, null), { ids });
  const byId = new Map(whole.map((row) => [row.id, row]));
  return rows.flatMap((row) => {
    if (!partial.has(row.id!)) return [row];
    const complete = byId.get(row.id);
    return complete ? [{ ...row, ...complete }] : [];
  });
}
