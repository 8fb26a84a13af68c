// Prepares each statement once, when it is first used, after the tenant guard has seen its plan at the start; and says of a composed list
// what it may cost.
import type Database from 'libsql';
import { LRUCache } from 'lru-cache';
import { isScan } from './cost.ts';
import type { Statement, Value } from './statement.ts';
import { tenantBreach } from './tenant-guard.ts';
import { shapeOf, type RowShape } from './values.ts';

const composedMax = 500;

interface Prepared {
  all(values: Value[]): Value[][];
  get(values: Value[]): Value[] | undefined;
  run(values: Value[]): { changes: number };
  raw(on: boolean): Prepared;
  columns(): { name: string }[];
}

interface Compiled {
  /** Made at its first use: of what the code declares a run uses a part. */
  readonly prepared: Prepared;
  readonly columns: RowShape;
  /** Whether it is for the event loop in a workspace; null where nothing is known of its cost. */
  readonly pace: Pace | null;
}

/** @throws Error when a tenant statement is not bound to its workspace */
export type Compile = (statement: Statement<unknown>) => Compiled;

/** How a list fares on the event loop. One that may look at every row is not for it, nor one that was slow on it lately. */
interface Pace {
  isSlow(workspaceId: string): boolean;
  took(workspaceId: string, ms: number): void;
}

/** Longer than a page of usual rows takes many times over (milliseconds). */
const slowMs = 4;
/** Once may be the collection of garbage. */
const slowTimes = 2;
const slowForMs = 60_000;
const slowWorkspacesMax = 1_000;

function createPace(scans: boolean): Pace {
  const slow = new LRUCache<string, { readonly times: number; readonly untilMs: number }>({
    max: slowWorkspacesMax,
  });
  return {
    isSlow(workspaceId) {
      if (scans) return true;
      const known = slow.get(workspaceId);
      return known !== undefined && known.times >= slowTimes && known.untilMs > performance.now();
    },
    took(workspaceId, ms) {
      if (ms <= slowMs) slow.delete(workspaceId);
      else
        slow.set(workspaceId, {
          times: (slow.get(workspaceId)?.times ?? 0) + 1,
          untilMs: performance.now() + slowForMs,
        });
    },
  };
}

/**
 * Declared statements that were checked against the schema opened last. The value is true for a list that may look at every row of its
 * workspace, and null for a statement that is not paced.
 */
let known = { schema: '', checked: new Map<Statement<unknown>, boolean | null>() };

/**
 * Plans and verdicts follow from the statement and the schema. A process that opens several databases of one schema checks each declared
 * statement once, because the check is a third of the work of opening a database. Statistics change plans, so that a database with
 * statistics shares nothing.
 */
function checkedStatements(db: Database.Database): Map<Statement<unknown>, boolean | null> {
  const rows = db.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all([]) as { name: string }[];
  if (rows.some(({ name }) => name.startsWith('sqlite_stat'))) return new Map();
  const schema = JSON.stringify(rows);
  if (known.schema !== schema) known = { schema, checked: new Map() };
  return known.checked;
}

/**
 * @param planner a connection of its own that reads nothing: EXPLAIN leaves it with a statement in progress, which bars every later
 *   savepoint there and lets no transaction end
 */
export function createCompiler(db: Database.Database, planner: Database.Database): Compile {
  /** Declared ones: as many as the code has. */
  const compiled = new Map<Statement<unknown>, Compiled>();
  const composed = new LRUCache<string, Compiled>({ max: composedMax });

  // Not by the planner: EXPLAIN stays in progress there, and with it the transaction of whatever else is read, which keeps the log from
  // being folded in.
  const definitionOf = (index: string): string => {
    const rows = db.prepare('SELECT sql FROM sqlite_master WHERE name = ?').all([index]);
    return (rows as { sql: string | null }[])[0]?.sql ?? '';
  };

  let shared: Map<Statement<unknown>, boolean | null> | undefined;

  /**
   * Returns true if the statement may look at every row of its workspace; null if it is not paced.
   * @throws Error when a tenant statement is not bound to its workspace, or a system statement is no SQL of this schema
   */
  const check = (statement: Statement<unknown>, made: () => Prepared): boolean | null => {
    const { reach, terms } = statement;
    const plan = reach === 'tenant' ? explained(planner, statement.text) : [];
    const breach = reach === 'tenant' ? tenantBreach(statement, plan) : null;
    if (breach)
      throw new Error(
        `Statement ${statement.name} is not bound to its workspace: ${breach}\n${statement.sql}`,
      );
    // EXPLAIN has checked the syntax of the others.
    if (reach === 'system') made();
    if (terms === undefined) return null;
    return terms === null || isScan(plan, terms, definitionOf);
  };

  return (statement: Statement<unknown>): Compiled => {
    const isComposed = statement.name === 'composed';
    // By the SQL as written: two texts can differ in their parameters' names alone, and the guard judges those.
    const before = isComposed ? composed.get(statement.sql) : compiled.get(statement);
    if (before) return before;
    const prepare = once(() => prepareStatement(db, statement));
    // A composed statement comes from a request: there are as many as people think of.
    const checked = isComposed ? null : (shared ??= checkedStatements(db));
    let scans = checked?.get(statement);
    if (scans === undefined) {
      scans = check(statement, prepare);
      checked?.set(statement, scans);
    }
    const made = createCompiled(statement, prepare, scans === null ? null : createPace(scans));
    if (isComposed) composed.set(statement.sql, made);
    else compiled.set(statement, made);
    return made;
  };
}

function explained(planner: Database.Database, text: string): string[] {
  const lines = planner.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[];
  return lines.map((line) => line.detail);
}

function prepareStatement(db: Database.Database, { text, returnsRows }: Statement<unknown>): Prepared {
  const made = db.prepare(text) as unknown as Prepared;
  return returnsRows ? made.raw(true) : made;
}

function createCompiled(
  { returnsRows }: Statement<unknown>,
  prepare: () => Prepared,
  pace: Pace | null,
): Compiled {
  let columns: RowShape | null = null;
  return {
    pace,
    get prepared() {
      return prepare();
    },
    get columns() {
      return (columns ??= shapeOf(
        returnsRows
          ? prepare()
              .columns()
              .map((column) => column.name)
          : [],
      ));
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
