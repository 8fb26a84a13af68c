// Removes what rows quote of purged issues, from all tables that declare it. Rows are read a page at a time, so that requests
// are not blocked; each row is written once.
import { firstIdOf, type Mentions, mentionsOf } from '../../platform/lib/ids.ts';
import { type SqlRow, type Statement, tenantStatement, type Value } from '../../platform/store/statement.ts';
import {
  backgroundCommitDelayMs,
  type Op,
  type Scope,
  type Store,
  tenantOp,
} from '../../platform/store/store.ts';
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

const eventsOf = tenantStatement<{ id: string }>(
  'events.of_purged',
  `SELECT id FROM events INDEXED BY events_issue WHERE workspace_id = :ws AND issue_id IN (SELECT value FROM json_each(:ids))`,
);

interface Searched {
  readonly table: Table;
  readonly quotes: AnyForgetting;
  readonly key: string;
  readonly page: Statement<SqlRow>;
  readonly update: Statement | null;
  readonly remove: Statement | null;
  /** Removes rows of other tables that depend on the rows. */
  readonly removeParts: readonly Statement[];
}

/** Declares the statements of all tables, before the store is opened. */
export function createForgetting(tables: readonly Table[]): ForgetIssues {
  const searched = tables.flatMap((table) => searchedIn(table, tables));
  return async ({ store, scope }, { ids, sinceMs }, forgetInMemory) => {
    const events = await store.read(scope, eventsOf, { ids: JSON.stringify([...ids]) });
    const eventIds = new Set(events.map(({ id }) => id));
    const byIssue = { ids, isAbout: mentionsOf(ids) };
    const byEvent = { ids, isAbout: mentionsOf(new Set([...ids, ...eventIds])) };
    forgetInMemory(scope, byEvent.isAbout);
    for (const one of searched) {
      const purged = one.quotes.byEvents ? byEvent : byIssue;
      const isAbout = async (row: SqlRow): Promise<boolean> =>
        eventIds.has(String(row[one.quotes.event ?? ''])) ||
        purged.isAbout(await textOf(row, one.quotes.columns));
      await throughPages({ store, scope, after: firstOf(one.table, sinceMs) }, one, async (rows) => {
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
  const written = columns.filter((column) => column !== event);
  const assignments = written.map((column) => `${column} = ${sets[column] ?? `:${column}`}`);
  const whose = `WHERE workspace_id = :ws AND ${key} = :id`;
  return [
    {
      table,
      quotes,
      key,
      page: tenantStatement(
        `${name}.page`,
        `SELECT ${[key, ...columns].join(', ')} FROM ${name} WHERE workspace_id = :ws AND ${key} > :after
         ORDER BY ${key} LIMIT ${atOnce}`,
      ),
      update: quotes.forget
        ? tenantStatement(`${name}.forget`, `UPDATE ${name} SET ${assignments.join(', ')} ${whose}`)
        : null,
      remove: quotes.forget ? null : tenantStatement(`${name}.forget`, `DELETE FROM ${name} ${whose}`),
      removeParts: tables.flatMap((part) =>
        'of' in part.quotes && part.quotes.of === name ? [partsRemoval(part.name, part.quotes)] : [],
      ),
    },
  ];
}

const partsRemoval = (part: string, { by, where }: { by: string; where?: string }): Statement =>
  tenantStatement(
    `${part}.forget`,
    `DELETE FROM ${part} WHERE workspace_id = :ws AND ${by} IN (SELECT value FROM json_each(:ids))${where === undefined ? '' : ` AND ${where}`}`,
  );

function opsOf(scope: Scope, one: Searched, rows: readonly SqlRow[], purged: PurgedIssues): Op[] {
  if (rows.length === 0) return [];
  const { key, quotes, update, remove, removeParts } = one;
  const ids = JSON.stringify(rows.map((row) => row[key]));
  return [
    ...rows.map((row) => {
      const id = row[key]!;
      if (remove) return tenantOp(scope, remove, { id });
      const values: Record<string, Value> = { ...row, ...quotes.forget!(row, purged), id };
      return tenantOp(
        scope,
        update!,
        Object.fromEntries(
          update!.params.filter((name) => name !== 'ws').map((name) => [name, values[name]!]),
        ),
      );
    }),
    ...removeParts.map((statement) => tenantOp(scope, statement, { ids })),
  ];
}

const firstOf = ({ idPrefix }: Table, sinceMs: number): string =>
  idPrefix === null ? '' : firstIdOf(idPrefix, sinceMs);

/** @param after key before the first page; ids increase with time */
async function throughPages(
  { store, scope, after }: { store: Store; scope: Scope; after: string },
  { page, key }: Searched,
  opsOfPage: (rows: readonly SqlRow[]) => Promise<Op[]>,
): Promise<void> {
  for (let rows = await store.read(scope, page, { after }); rows.length > 0;) {
    const ops = await opsOfPage(rows);
    if (ops.length > 0) {
      const outcome = await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
      if (!outcome.ok) throw new Error(`Data of purged issues could not be removed: ${outcome.message}`);
    }
    await new Promise((resolve) => void setTimeout(resolve, restMs));
    rows = await store.read(scope, page, { after: rows.at(-1)![key]! });
  }
}

/** Returns the texts of a row, one after the other. */
async function textOf(row: SqlRow, columns: readonly string[]): Promise<string> {
  const texts = await Promise.all(
    columns.map(async (column) => {
      const value = row[column] ?? null;
      return value !== null && typeof value === 'object'
        ? new TextDecoder().decode(await Bun.zstdDecompress(value))
        : String(value ?? '');
    }),
  );
  return texts.join('');
}
