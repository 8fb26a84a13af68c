// Removes what rows quote of purged issues, from all tables that declare it. Rows are read a page at a time, so that requests
// are not blocked; each row is written once.
import { firstIdOf, type Mentions, mentionsOf } from '../../platform/lib/ids.ts';
import {
  type Params,
  type SqlRow,
  type Statement,
  tenantStatement,
  type Value,
} from '../../platform/store/statement.ts';
import {
  backgroundCommitDelayMs,
  type Op,
  type Scope,
  type Store,
  tenantOp,
} from '../../platform/store/store.ts';
import type { TableName } from '../../platform/store/generated/schema.ts';
import type { AnyForgetting, PurgedIssues, Table } from './define.ts';

interface Purged {
  readonly ids: ReadonlySet<string>;
  /** Creation time of the oldest purged issue in Unix milliseconds; no older row can mention one. */
  readonly sinceMs: number;
}

/** Removes quotations from memory, before those of rows, which memory may write. Events of the issues are mentions too. */
export type ForgetInMemory = (scope: Scope, isAbout: Mentions) => void;

export type ForgetIssues = (
  on: { readonly store: Store; readonly scope: Scope },
  purged: Purged,
  forgetInMemory: ForgetInMemory,
) => Promise<void>;

/** Pause between two pages in milliseconds, so that other work can run. */
const restMs = 2;
/** Events whose dependent rows are changed together. */
const eventsAtOnce = 100;

const eventsOf = tenantStatement<{ id: string }>(
  'events.of_purged',
  `SELECT id FROM events INDEXED BY events_issue WHERE workspace_id = :ws AND issue_id IN (SELECT value FROM json_each(:ids))`,
);

interface Searched {
  readonly table: Table;
  readonly quotes: AnyForgetting;
  readonly key: string;
  readonly page: Statement<SqlRow>;
  /** Stores the values that `forget` returns for one row. */
  readonly update: Statement | null;
  /** Change the rows `:ids`, and rows of other tables that depend on them. */
  readonly byIds: readonly Statement[];
}

/** Declares the statements of all tables, before the store is opened. */
export function createForgetting(tables: readonly Table[]): ForgetIssues {
  const searched = tables.flatMap((table) => searchedIn(table, tables));
  const byEvents = tables.flatMap(ofEventsIn);
  return async ({ store, scope }, { ids, sinceMs }, forgetInMemory) => {
    const events = await store.read(scope, eventsOf, { ids: JSON.stringify([...ids]) });
    const eventIds = new Set(events.map(({ id }) => id));
    const byIssue = { ids, isAbout: mentionsOf(ids) };
    const byEvent = { ids, isAbout: mentionsOf(new Set([...ids, ...eventIds])) };
    forgetInMemory(scope, byEvent.isAbout);
    for (const part of chunksOf([...eventIds], eventsAtOnce))
      await commit(
        store,
        byEvents.map((statement) => tenantOp(scope, statement, { events: JSON.stringify(part) })),
      );
    for (const one of searched) {
      const purged = one.quotes.byEvents ? byEvent : byIssue;
      const isAbout = async (row: SqlRow): Promise<boolean> =>
        eventIds.has(String(row[one.quotes.event ?? ''])) || purged.isAbout(await textOf(row, one.quotes));
      await throughPages({ store, scope, sinceMs }, one, async (rows) => {
        const about = await Promise.all(rows.map(isAbout));
        return opsOf(
          scope,
          one,
          rows.filter((_, at) => about[at]),
          purged,
        );
      });
    }
  };
}

function searchedIn(table: Table, tables: readonly Table[]): Searched[] {
  const { name, quotes } = table;
  if (!('columns' in quotes)) return [];
  const [key = ''] = table.key;
  const { columns, sets = {}, event, atOnce } = quotes;
  const assignments = columns
    .filter((column) => column !== event)
    .map((column) => `${column} = ${sets[column] ?? `:${column}`}`);
  const dependents = dependentsOf(name, tables, name);
  return [
    {
      table,
      quotes,
      key,
      page: tenantStatement(
        `${name}.page`,
        `SELECT ${[...table.key, ...columns].join(', ')} FROM ${name}
         WHERE workspace_id = :ws AND (${table.key.join(', ')}) > (${table.key.map((name) => `:${name}`).join(', ')})
         ORDER BY ${table.key.join(', ')} LIMIT ${atOnce}`,
      ),
      update: quotes.forget
        ? tenantStatement(
            `${name}.forget`,
            `UPDATE ${name} SET ${assignments.join(', ')} WHERE workspace_id = :ws AND ${key} = :id`,
          )
        : null,
      byIds: quotes.forget ? dependents : [byIds(table, quotes.sets, key, name), ...dependents],
    },
  ];
}

/** Declares the statements for rows that depend on rows of `owner`, which are changed because of rows of `root`. */
function dependentsOf(owner: TableName, tables: readonly Table[], root: TableName): Statement[] {
  return tables.flatMap((table) => {
    const { name, quotes } = table;
    if ('of' in quotes && quotes.of === owner)
      return [byIds(table, quotes.sets, quotes.by, root, quotes.where)];
    if (!('with' in quotes) || quotes.with !== owner) return [];
    return [byIds(table, quotes.sets, table.key[0]!, root), ...dependentsOf(name, tables, root)];
  });
}

/** Declares the statement that sets columns of rows, or removes the rows. @param by column with one of `:ids` */
function byIds(
  { name }: Table,
  sets: Readonly<Record<string, string>> | undefined,
  by: string,
  root: TableName,
  where?: string,
): Statement {
  const does = sets ? `UPDATE ${name} SET ${assignmentsOf(sets)}` : `DELETE FROM ${name}`;
  return tenantStatement(
    `${name}.forget_${root}`,
    `${does} WHERE workspace_id = :ws AND ${by} IN (SELECT value FROM json_each(:ids))${where === undefined ? '' : ` AND ${where}`}`,
  );
}

function ofEventsIn({ name, quotes }: Table): Statement[] {
  if (!('columns' in quotes) || quotes.ofEvents === undefined) return [];
  const sql = `UPDATE ${name} SET ${assignmentsOf(quotes.sets ?? {})} WHERE workspace_id = :ws AND ${quotes.ofEvents}`;
  return [tenantStatement(`${name}.forget_of_events`, sql)];
}

const assignmentsOf = (sets: Readonly<Record<string, string>>): string =>
  Object.entries(sets)
    .map(([column, value]) => `${column} = ${value}`)
    .join(', ');

function opsOf(scope: Scope, one: Searched, rows: readonly SqlRow[], purged: PurgedIssues): Op[] {
  if (rows.length === 0) return [];
  const { key, quotes, update, byIds: changes } = one;
  const ids = JSON.stringify(rows.map((row) => row[key]));
  return [
    ...(update
      ? rows.map((row) => updateOp(scope, update, row, { ...quotes.forget!(row, purged), id: row[key]! }))
      : []),
    ...changes.map((statement) => tenantOp(scope, statement, { ids })),
  ];
}

function updateOp(scope: Scope, update: Statement, row: SqlRow, now: Readonly<Record<string, Value>>): Op {
  const values: Readonly<Record<string, Value>> = { ...row, ...now };
  const params = update.params.filter((name) => name !== 'ws').map((name) => [name, values[name]!]);
  return tenantOp(scope, update, Object.fromEntries(params));
}

function* chunksOf<T>(all: readonly T[], size: number): Iterable<readonly T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}

/** Commits as background work, then pauses. */
async function commit(store: Store, ops: readonly Op[]): Promise<void> {
  if (ops.length > 0) {
    const outcome = await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
    if (!outcome.ok) throw new Error(`Data of purged issues could not be removed: ${outcome.message}`);
  }
  await new Promise((resolve) => void setTimeout(resolve, restMs));
}

/** Reads the rows that were written since a time; ids increase with time. */
async function throughPages(
  { store, scope, sinceMs }: { store: Store; scope: Scope; sinceMs: number },
  { table, page }: Searched,
  opsOfPage: (rows: readonly SqlRow[]) => Promise<Op[]>,
): Promise<void> {
  const { key: keys, idPrefix } = table;
  let after: Params = Object.fromEntries(keys.map((key) => [key, '']));
  if (idPrefix !== null) after = { ...after, [keys[0]!]: firstIdOf(idPrefix, sinceMs) };
  for (let rows = await store.read(scope, page, after); rows.length > 0;) {
    await commit(store, await opsOfPage(rows));
    const last = rows.at(-1)!;
    after = Object.fromEntries(keys.map((key) => [key, last[key]!]));
    rows = await store.read(scope, page, after);
  }
}

/** Returns the texts of a row, one after the other. */
async function textOf(row: SqlRow, { columns, isPlain }: AnyForgetting): Promise<string> {
  const texts = await Promise.all(
    columns.map(async (column) => {
      const value = row[column] ?? null;
      if (value === null || typeof value !== 'object') return String(value ?? '');
      return new TextDecoder().decode(isPlain ? value : await Bun.zstdDecompress(value));
    }),
  );
  return texts.join('');
}
