// Keyset pages over one tenant table: the next page starts after the sort values of the last row, so its cost does not
// grow with the table, and rows that were there all along are neither skipped nor repeated while others are written. A page
// ends after so many rows, or after the row that passes so many bytes: what is long is read only for the rows that it shows.
import { decodeCursor, encodeCursor, type CursorValue } from '../lib/cursor.ts';
import type { Sealing } from '../lib/sealing.ts';
import { composedStatement, type Row, type Value } from './statement.ts';
import type { Scope, Store } from './store.ts';

/** A condition over the table's columns. Parameter names are the caller's; values never enter the text. */
export interface Condition {
  readonly sql: string;
  readonly params: Readonly<Record<string, Value>>;
  /**
   * A select of `listed_id` and `listed_at` that an index hands out in this order: the id, once, and the time of creation of every
   * row that passes, and perhaps of others. By it a list in the order of creation finds its rows; in another order it is left out, with
   * the parameters that it alone has.
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
  /** In place of a cursor: the values of the keys, the id as the last, that the page begins behind. */
  readonly beyond?: readonly CursorValue[];
  /**
   * What was asked for: a cursor goes on only with a list that the same was asked of. Names it resolves to, and what is under way, are
   * not among it, as those move while somebody pages.
   */
  readonly asked: Readonly<Record<string, unknown>>;
  /** Long columns that nobody will look at: they come back empty, and count for nothing. */
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

/** A page ends after the row that passes this many bytes of long columns. */
export const pageBytesMax = 2 * 1024 * 1024;
/** Up to this a long column comes along with its row (bytes). */
const alongBytesMax = 8 * 1024;

/** `next` is the first row behind the page. @throws ApiError invalid_cursor, budget_exceeded, rate_limited */
export async function readPage(
  store: Store,
  sealing: Sealing,
  scope: Scope,
  query: PageQuery,
): Promise<Page<Row> & { readonly next: Row | undefined }> {
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
  const rows = await store.read<Row>(scope, composedStatement<Row>(sql, terms), {
    ...params,
    limit: query.limit + 1,
  });
  const { shown, partial } = upToBytes(rows.slice(0, query.limit), long);
  const hasNextPage = rows.length > shown.length;
  const data = partial.size === 0 ? shown : await withLong(store, scope, query, shown, partial);
  const last = shown.at(-1);
  const endCursor = last
    ? encodeCursor(
        sealing,
        list,
        order.map((_, index) => last[`k${index}`] as CursorValue),
      )
    : null;
  return { data, pageInfo: { hasNextPage, endCursor }, next: rows[shown.length] };
}

/** What was asked for, by name: the order of its parameters makes no other list. */
export function givenOf(asked: Readonly<Record<string, unknown>>): [name: string, value: unknown][] {
  return Object.entries(asked)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What its cursors are valid for. */
function listOf({ workspaceId }: Scope, { table, asked, order }: PageQuery): string {
  return `${workspaceId} ${table} ${JSON.stringify([givenOf(asked), order])}`;
}

interface Source {
  readonly from: string;
  /** What joins the rows to what lists them. */
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
    // CROSS: in this order, whatever the planner thinks of it.
    from: `(${listed.sql}) CROSS JOIN ${table}`,
    byId: ['id = listed_id'],
    order: [
      { sql: 'listed_at', direction },
      { sql: 'listed_id', direction },
    ],
    params: listed.params,
  };
}

/** Row values where all keys run one way, so that an index can seek; the expanded form where directions are mixed. Values: k0, k1, … */
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

/** Columns whose length users choose, by the names that migrations give them, as they stand in a select list. */
const longColumn = /(?<=^|,\s*)(?:description|body|notes|\w+_json)(?=,|$)/g;

interface Columns {
  /** The select list; where a column is long, its length in bytes stands in its place. */
  readonly along: string;
  readonly long: readonly string[];
}
/** By what the code selects, which is little. */
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
  const made = { along, long };
  knownColumns.set(key, made);
  return made;
}

/** The rows of a page, and which of them did not come whole. */
function upToBytes(
  rows: readonly Row[],
  long: readonly string[],
): { shown: Row[]; partial: ReadonlySet<Value> } {
  const shown: Row[] = [];
  const partial = new Set<Value>();
  let bytes = 0;
  for (const row of rows) {
    if (bytes > pageBytesMax) break;
    shown.push(row);
    for (const column of long) {
      const value = row[column];
      if (typeof value === 'number') partial.add(row.id!);
      bytes += typeof value === 'number' ? value : typeof value === 'string' ? value.length : 0;
    }
  }
  return { shown, partial };
}

/** Reads the rest of the rows that did not come whole. One that was removed meanwhile is left out. */
async function withLong(
  store: Store,
  scope: Scope,
  query: PageQuery,
  rows: readonly Row[],
  partial: ReadonlySet<Value>,
): Promise<Row[]> {
  const sql = `SELECT ${query.select} FROM ${query.table} WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))`;
  const ids = JSON.stringify([...partial]);
  const whole = await store.read<Row>(scope, composedStatement<Row>(sql, null), { ids });
  const byId = new Map(whole.map((row) => [row.id, row]));
  return rows.flatMap((row) => {
    if (!partial.has(row.id!)) return [row];
    const found = byId.get(row.id);
    return found ? [{ ...row, ...found }] : [];
  });
}
