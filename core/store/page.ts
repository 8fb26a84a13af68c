// Keyset pages over one tenant table: the next page starts after the sort values of the last row, so its cost does not
// grow with the table, and rows that were there all along are neither skipped nor repeated while others are written.
import { decodeCursor, encodeCursor, type CursorValue } from '../lib/cursor.ts';
import type { Sealing } from '../lib/sealing.ts';
import { composedStatement, type Row, type Value } from './statement.ts';
import type { Scope, Store } from './store.ts';

/** A condition over the table's columns. Parameter names are the caller's; values never enter the text. */
export interface Condition {
  readonly sql: string;
  readonly params: Readonly<Record<string, Value>>;
}

export interface SortKey {
  /** A column or expression that is never NULL. */
  readonly sql: string;
  readonly direction: 'asc' | 'desc';
}

export interface PageQuery {
  readonly table: string;
  readonly select: string;
  readonly where: readonly Condition[];
  /** The id is appended as the last key, in the direction of the key before it. */
  readonly order: readonly SortKey[];
  readonly limit: number;
  readonly after: string | undefined;
}

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
}

export interface Page<T> {
  readonly data: T[];
  readonly pageInfo: PageInfo;
}

/** @throws ApiError invalid_cursor */
export async function readPage(
  store: Store,
  sealing: Sealing,
  scope: Scope,
  query: PageQuery,
): Promise<Page<Row>> {
  const order = [...query.order, { sql: 'id', direction: query.order.at(-1)?.direction ?? 'asc' }];
  const where = ['workspace_id = :ws', ...query.where.map((condition) => condition.sql)];
  const params: Record<string, Value> = Object.assign(
    {},
    ...query.where.map((condition) => condition.params),
  );
  const list = `${scope.workspaceId} ${query.table} ${JSON.stringify([where, params, order])}`;
  if (query.after !== undefined) {
    const values = decodeCursor(sealing, list, query.after);
    values.forEach((value, index) => (params[`k${index}`] = value));
    where.push(beyond(order));
  }
  const keys = order.map((key, index) => `${key.sql} AS k${index}`).join(', ');
  const sql = `SELECT ${query.select}, ${keys} FROM ${query.table} WHERE ${where.join(' AND ')}
    ORDER BY ${order.map((key) => `${key.sql} ${key.direction}`).join(', ')} LIMIT :limit`;
  const rows = await store.read<Row>(scope, composedStatement<Row>(sql), {
    ...params,
    limit: query.limit + 1,
  });
  const hasNextPage = rows.length > query.limit;
  const data = hasNextPage ? rows.slice(0, query.limit) : rows;
  const last = data.at(-1);
  const endCursor = last
    ? encodeCursor(
        sealing,
        list,
        order.map((_, index) => last[`k${index}`] as CursorValue),
      )
    : null;
  return { data, pageInfo: { hasNextPage, endCursor } };
}

/** Row values where all keys run one way, so that an index can seek; the expanded form where directions are mixed. */
function beyond(order: readonly SortKey[]): string {
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
