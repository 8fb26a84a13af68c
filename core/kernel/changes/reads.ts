// Records the reads of a plugin run, so that its commit is rejected if any data that it read has changed.
// docs/spec/plugins.md › Isolation.
import type { Condition } from '../../platform/store/page.ts';
import { composedStatement, type Statement, tenantStatement } from '../../platform/store/statement.ts';
import { type Op, type Scope, tenantOp } from '../../platform/store/store.ts';
import type { Change } from './change.ts';

/** Statement that returns one row if the rows are as they were read, and none otherwise. */
type AsRead = Statement<{ changed: number }>;

/** @param table table whose rows have an id and a version */
export function asReadStatement(table: string): AsRead {
  return composedStatement(
    `SELECT 0 AS changed WHERE :count = (SELECT count(*) FROM json_each(:rows) AS r
       CROSS JOIN ${table} AS one ON one.workspace_id = :ws AND one.id = r.value->>0 AND one.version = r.value->>1)
     AND NOT EXISTS (SELECT 1 FROM json_each(:absent) AS r CROSS JOIN ${table} AS one ON one.workspace_id = :ws AND one.id = r.value)`,
  );
}

/**
 * Returns the statement that checks that nothing in the directory has changed after an event. The index has its
 * condition, so the check does not read the events since.
 * @param models entities of the directory, in alphabetical order
 */
export function directoryAsReadStatement(models: readonly string[]): AsRead {
  const isNaming = models.map((model) => `entity_type = '${model}'`).join(' OR ');
  return tenantStatement(
    'events.no_naming_since',
    `SELECT 0 AS changed WHERE NOT EXISTS (SELECT 1 FROM events INDEXED BY events_naming
       WHERE workspace_id = :ws AND sequence > :since AND (${isNaming}))`,
  );
}

/** Ignores events about runs, because plugins do not read runs. */
const noEvent = tenantStatement<{ changed: number }>(
  'events.none_since',
  `SELECT 0 AS changed WHERE NOT EXISTS (SELECT 1 FROM events WHERE workspace_id = :ws AND sequence > :since
     AND (entity_type IN (SELECT value FROM json_each(:kinds)) OR (:any = 1 AND type NOT LIKE 'automation.%')))`,
);

/**
 * Further tables that the conditions of a list may use: they change only with its rows or with the directory.
 */
const tablesOfRows = new Set(['json_each', 'issue_labels', 'labels']);

interface Rows {
  /**
   * Versions at the first read, by id; null for a missing row. A later read of another version is a conflict.
   */
  readonly versions: Map<string, number | null>;
  readonly kind: string;
}

interface ListRead {
  readonly kind: string;
  readonly table: string;
  readonly where: readonly Condition[];
}

interface ReadSetOptions {
  /** Returns the sequence of an event at or before the first read of the run. */
  begin(): number | Promise<number>;
  /**
   * Checks the directory. Any change of it is a conflict, because every response contains some of its names.
   */
  readonly directoryAsRead: AsRead;
}

/** Reads of one run. The size is bounded by the number of calls in a run, and by the length of a page. */
export class ReadSet {
  readonly #options: ReadSetOptions;
  readonly #rows = new Map<AsRead, Rows>();
  readonly #lists = new Map<string, ListRead>();
  readonly #kinds = new Set<string>();
  readonly #others = new Map<string, (scope: Scope) => Op>();
  #since: number | undefined;
  #any = false;
  #isUsed = false;

  constructor(options: ReadSetOptions) {
    this.#options = options;
  }

  /** Determines the start of the reads; must be called before the first one. */
  async begin(): Promise<void> {
    this.#since ??= await this.#options.begin();
  }

  /** Marks that the run has received data. Until then it depends on no read, and `guards` returns no op. */
  use(): void {
    this.#isUsed = true;
  }

  /** Records a row by id and the version that was read; null for a missing row. */
  row(statement: AsRead, kind: string, id: string, version: number | null): void {
    const rows = this.#rows.get(statement) ?? { versions: new Map<string, number | null>(), kind };
    this.#rows.set(statement, rows);
    if (!rows.versions.has(id)) rows.versions.set(id, version);
  }

  /** Records the conditions of a list; its returned rows are recorded with `row`. */
  list(kind: string, table: string, where: readonly Condition[]): void {
    if (!where.every(({ sql }) => looksAtRows(sql, table))) return this.everything();
    const key = JSON.stringify([table, where.map(({ sql, params }) => [sql, params])]);
    this.#lists.set(key, { kind, table, where });
  }

  /** Records a read of unknown objects of one entity: any change of that entity is a conflict. */
  kind(name: string): void {
    this.#kinds.add(name);
  }

  /** Records a read that cannot be checked precisely: any change in the workspace is a conflict. */
  everything(): void {
    this.#any = true;
  }

  /**
   * Records a read of data without events.
   * @param guard checks that the data is as it was at the first call for the key
   */
  other(key: string, guard: (scope: Scope) => Op): void {
    if (!this.#others.has(key)) this.#others.set(key, guard);
  }

  /**
   * Returns ops that reject a batch if anything that was read has changed; none for a run that has read
   * nothing.
   */
  guards(scope: Scope, changes: readonly Change[]): Op[] {
    if (!this.#isUsed) return [];
    const since = this.#since ?? 0;
    return [
      guardOp(scope, this.#options.directoryAsRead, { since }),
      ...this.#eventGuards(scope, since),
      ...this.#rowGuards(scope, changes),
      // If nothing in the workspace has changed, no list has.
      ...(this.#any ? [] : [...this.#lists.values()].map((list) => listGuard(scope, list, since))),
      ...[...this.#others.values()].map((guard) => guard(scope)),
    ];
  }

  #eventGuards(scope: Scope, since: number): Op[] {
    if (!this.#any && this.#kinds.size === 0) return [];
    const params = { since, kinds: JSON.stringify([...this.#kinds]), any: this.#any ? 1 : 0 };
    return [guardOp(scope, noEvent, params)];
  }

  #rowGuards(scope: Scope, changes: readonly Change[]): Op[] {
    // Ops of the changes guard the rows that they write.
    const guarded = new Map(changes.map(({ kind, id, baseVersion }) => [`${kind}:${id}`, baseVersion]));
    return [...this.#rows].flatMap(([statement, { versions, kind }]) => {
      const open = [...versions].filter(([id, version]) => guarded.get(`${kind}:${id}`) !== version);
      if (open.length === 0) return [];
      const rows = open.filter(([, version]) => version !== null);
      const absent = open.filter(([, version]) => version === null).map(([id]) => id);
      const params = {
        rows: JSON.stringify(rows),
        count: rows.length,
        absent: JSON.stringify(absent),
      };
      return [guardOp(scope, statement, params)];
    });
  }
}

/** True if a condition depends only on the rows of the table and on the directory. */
function looksAtRows(sql: string, table: string): boolean {
  return [...sql.matchAll(/\b(?:FROM|JOIN)\s+(\w+)/gi)].every(
    ([, name = '']) => name === table || tablesOfRows.has(name),
  );
}

export function guardOp(scope: Scope, statement: Statement<unknown>, params: Op['params']): Op {
  return tenantOp(scope, statement, params, { expectRows: 1 });
}

/**
 * Checks that no object that changed since the read now matches the conditions. The row guards cover objects
 * that matched before.
 */
function listGuard(scope: Scope, { kind, table, where }: ListRead, since: number): Op {
  const passes = where.map(({ sql }) => ` AND (${sql})`).join('');
  const statement = composedStatement<{ changed: number }>(
    `SELECT 0 AS changed WHERE NOT EXISTS (SELECT 1 FROM
       (SELECT DISTINCT entity_id AS changed_id FROM events WHERE workspace_id = :ws AND sequence > :readSince AND entity_type = :readKind)
       CROSS JOIN ${table} ON workspace_id = :ws AND id = changed_id WHERE 1${passes})`,
  );
  const params = Object.assign({ readSince: since, readKind: kind }, ...where.map(({ params }) => params));
  return guardOp(scope, statement, params);
}
