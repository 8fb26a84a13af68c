// What a plugin run has read, kept beside what it stages, so that its commit can ask in the same batch whether all of it still is so.
// Docs: docs/spec/plugins.md › Isolation.
import type { Condition } from '../store/page.ts';
import { composedStatement, tenantStatement, type Statement } from '../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../store/store.ts';
import type { Change } from './change.ts';

/** Selects one row where the rows are as they were read, and none otherwise. */
export type AsRead = Statement<{ changed: number }>;

/** @param table whose rows have an id and a version */
export function asReadStatement(table: string): AsRead {
  return composedStatement(
    `SELECT 0 AS changed WHERE :count = (SELECT count(*) FROM json_each(:rows) AS r
       CROSS JOIN ${table} AS one ON one.workspace_id = :ws AND one.id = r.value->>0 AND one.version = r.value->>1)
     AND NOT EXISTS (SELECT 1 FROM json_each(:absent) AS r CROSS JOIN ${table} AS one ON one.workspace_id = :ws AND one.id = r.value)`,
  );
}

/** Events that tell of runs, and of nothing that a plugin reads. */
const noEvent = tenantStatement<{ changed: number }>(
  'events.none_since',
  `SELECT 0 AS changed WHERE NOT EXISTS (SELECT 1 FROM events WHERE workspace_id = :ws AND sequence > :since
     AND (entity_kind IN (SELECT value FROM json_each(:kinds)) OR (:any = 1 AND type NOT LIKE 'automation.%')))`,
);

/** What a list looks at beside the rows of its kind: these change with the rows, or with the directory. */
const tablesOfRows = new Set(['json_each', 'issue_labels', 'labels']);

interface Rows {
  /** By id; null for what was not there. The first reading counts: a second one that differs is no longer what was read. */
  readonly versions: Map<string, number | null>;
  readonly kind: string;
}

interface ListRead {
  readonly kind: string;
  readonly table: string;
  readonly where: readonly Condition[];
}

export interface ReadSetOptions {
  /** The sequence of an event at which, or before which, a run begins to read. */
  begin(): number | Promise<number>;
  /** Names of the kinds that the directory holds: whatever is shown names some of them. */
  readonly directoryKinds: ReadonlySet<string>;
}

/** Bounded by how many calls a run makes, and by how long a page is. */
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

  /** To be called before anything is read. */
  async begin(): Promise<void> {
    this.#since ??= await this.#options.begin();
  }

  /** The run was told something: until then what its writes look at is no reading of its own. */
  use(): void {
    this.#isUsed = true;
  }

  /** A row by its id, and the version that was read; null where there was none. */
  row(statement: AsRead, kind: string, id: string, version: number | null): void {
    const rows = this.#rows.get(statement) ?? { versions: new Map<string, number | null>(), kind };
    this.#rows.set(statement, rows);
    if (!rows.versions.has(id)) rows.versions.set(id, version);
  }

  /** All that passes, of which `row` was told what was handed out. */
  list(kind: string, table: string, where: readonly Condition[]): void {
    if (!where.every(({ sql }) => looksAtRows(sql, table))) return this.everything();
    const key = JSON.stringify([table, where.map(({ sql, params }) => [sql, params])]);
    this.#lists.set(key, { kind, table, where });
  }

  /** Something of a kind, and nobody knows what: any change of that kind is a conflict. */
  kind(name: string): void {
    this.#kinds.add(name);
  }

  /** What cannot be checked precisely: any change in the workspace is a conflict. */
  everything(): void {
    this.#any = true;
  }

  /** What makes no events. @param guard checks that it is as it was when this was first called for the key */
  other(key: string, guard: (scope: Scope) => Op): void {
    if (!this.#others.has(key)) this.#others.set(key, guard);
  }

  /** Ops that refuse a batch where something that was read has changed; none for a run that has read nothing. */
  guards(scope: Scope, changes: readonly Change[]): Op[] {
    if (!this.#isUsed) return [];
    const since = this.#since ?? 0;
    const kinds = [...this.#options.directoryKinds, ...this.#kinds];
    return [
      guardOp(scope, noEvent, { since, kinds: JSON.stringify(kinds), any: this.#any ? 1 : 0 }),
      ...this.#rowGuards(scope, changes),
      // Where nothing at all has changed, no list has.
      ...(this.#any ? [] : [...this.#lists.values()].map((list) => listGuard(scope, list, since))),
      ...[...this.#others.values()].map((guard) => guard(scope)),
    ];
  }

  #rowGuards(scope: Scope, changes: readonly Change[]): Op[] {
    // What it changes is guarded by that.
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

/** Whether what passes a condition follows from the rows of the table, and from what the directory holds. */
function looksAtRows(sql: string, table: string): boolean {
  return [...sql.matchAll(/\b(?:FROM|JOIN)\s+(\w+)/gi)].every(
    ([, name = '']) => name === table || tablesOfRows.has(name),
  );
}

export function guardOp(scope: Scope, statement: Statement<unknown>, params: Op['params']): Op {
  return tenantOp(scope, statement, params, { expectRows: 1 });
}

/** Nothing that changed since has come to pass. What passed, and no longer does, is among the rows that were handed out, or was not seen. */
function listGuard(scope: Scope, { kind, table, where }: ListRead, since: number): Op {
  const passes = where.map(({ sql }) => ` AND (${sql})`).join('');
  const statement = composedStatement<{ changed: number }>(
    `SELECT 0 AS changed WHERE NOT EXISTS (SELECT 1 FROM
       (SELECT DISTINCT entity_id AS changed_id FROM events WHERE workspace_id = :ws AND sequence > :readSince AND entity_kind = :readKind)
       CROSS JOIN ${table} ON workspace_id = :ws AND id = changed_id WHERE 1${passes})`,
  );
  const params = Object.assign({ readSince: since, readKind: kind }, ...where.map(({ params }) => params));
  return guardOp(scope, statement, params);
}
