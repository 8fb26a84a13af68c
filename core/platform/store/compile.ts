// Compiles statements at their first use: applies the tenant guard, prepares the statement, and estimates the cost of composed lists.
import type Database from 'libsql';
import { LRUCache } from 'lru-cache';
import { type Statement, type Value, rowMaker, type RowMaker } from './statement.ts';
import { tenantBreach } from './tenant-guard.ts';
import { threadMs } from '../lib/process/cpu.ts';

const composedMax = 500;

interface Prepared {
  all(values: Value[]): Value[][];
  get(values: Value[]): Value[] | undefined;
  run(values: Value[]): { changes: number };
  raw(on: boolean): Prepared;
  columns(): { name: string }[];
}

interface Compiled {
  /** Prepared when it is read, because the writer prepares its own statements. */
  readonly prepared: Prepared;
  readonly toRow: RowMaker;
  /** Decides per workspace if the statement may run on the event loop; null if its cost is not tracked. */
  readonly pace: Pace | null;
}

/** @throws Error when a tenant statement is not bound to its workspace */
export type Compile = (statement: Statement<unknown>) => Compiled;

/**
 * Tracks if a list query may run on the event loop: not if its plan can scan the whole workspace, or if it
 * was recently slow there.
 */
interface Pace {
  isSlow(workspaceId: string): boolean;
  /** Runs a read, and notes if it was slow. */
  timed<T>(workspaceId: string, read: () => T): T;
}

/** Duration above which a run counts as slow (milliseconds): several times that of a page of usual size. */
const slowMs = 4;
/** Number of consecutive slow runs after which a list counts as slow; one may be a garbage collection. */
const slowTimes = 2;
const slowForMs = 60_000;
const slowWorkspacesMax = 1_000;

/** Runs that were slow in succession: the first by the clock, all others by CPU time, which is costly to read. */
interface SlowRuns {
  readonly times: number;
  readonly untilMs: number;
}

function createPace(scans: boolean): Pace {
  const slow = new LRUCache<string, SlowRuns>({ max: slowWorkspacesMax });
  return {
    isSlow(workspaceId) {
      if (scans) return true;
      const known = slow.get(workspaceId);
      return known !== undefined && known.times > slowTimes && known.untilMs > performance.now();
    },
    timed(workspaceId, read) {
      const times = slow.size === 0 ? 0 : (slow.get(workspaceId)?.times ?? 0);
      const clock = times === 0 ? (): number => performance.now() : threadMs;
      const before = clock();
      const result = read();
      if (clock() - before > slowMs)
        slow.set(workspaceId, { times: times + 1, untilMs: performance.now() + slowForMs });
      else if (times > 0) slow.delete(workspaceId);
      return result;
    },
  };
}

/**
 * Verdicts on declared statements for the schema opened last: true for a list that may scan its workspace, null for a statement whose cost
 * is not tracked.
 */
let known = { schema: '', checked: new Map<Statement<unknown>, boolean | null>() };

/**
 * Plans and verdicts depend only on the statement and the schema, so databases of one schema share them within a process: the check is a
 * third of the work of opening a database. Statistics change plans, so a database with statistics shares nothing.
 */
function checkedStatements(db: Database.Database): Map<Statement<unknown>, boolean | null> {
  const rows = db.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all([]) as { name: string }[];
  if (rows.some(({ name }) => name.startsWith('sqlite_stat'))) return new Map();
  const schema = JSON.stringify(rows);
  if (known.schema !== schema) known = { schema, checked: new Map() };
  return known.checked;
}

// Estimates from its query plan if a composed list may scan every row of its workspace. A list is bounded if an index covers every
// condition and returns the rows in order.

/** In a plan, `?` marks the values that the index seeks: `(workspace_id=? AND team_id=? AND created_at<?)`. */
const seek = /^SEARCH \w+ USING (?:COVERING )?(?:INDEX (\w+)|PRIMARY KEY) \((.*)\)$/;
const comparison = /^(\w+) (?:(?:=|[<>]=?) :\w+|(IN) \([^()]*\))$/;

/**
 * @param plan detail column of EXPLAIN QUERY PLAN
 * @param terms conditions of the list, without its workspace and cursor position
 * @param definitionOf returns the SQL that created an index
 */
export function isScan(
  plan: readonly string[],
  terms: readonly string[],
  definitionOf: (index: string) => string,
): boolean {
  // A sort reads all matching rows before the first one is returned.
  if (plan.some((line) => line.includes('TEMP B-TREE'))) return true;
  const match = plan.map((line) => seek.exec(line)).find((match) => match !== null);
  if (!match) return true;
  const [, index, sought = ''] = match;
  const partial = index === undefined ? '' : (/\bWHERE\b(.*)$/s.exec(definitionOf(index))?.[1] ?? '');
  const bySeek = new Set([...sought.matchAll(/\b(\w+)[=<>]\?/g)].map((match) => match[1]));
  return !terms.every((term) => {
    const bare = unwrapped(term);
    const column = comparison.exec(bare)?.[1];
    return (column !== undefined && bySeek.has(column)) || partial.includes(bare);
  });
}

function unwrapped(term: string): string {
  const inner = /^\(([^()]*(?:\([^()]*\))?)\)$/.exec(term)?.[1];
  return inner === undefined ? term : unwrapped(inner);
}

/**
 * @param planner separate connection that reads no rows: EXPLAIN leaves its statement in progress, which blocks later savepoints and the
 *   end of any transaction on that connection
 */
export function createCompiler(db: Database.Database, planner: Database.Database): Compile {
  /** Contains only declared statements, so the number of entries is bounded by the code. */
  const compiled = new Map<Statement<unknown>, Compiled>();
  const composed = new LRUCache<string, Compiled>({ max: composedMax });

  // The planner must not be used here: a statement in progress there would keep a read transaction open and
  // block the checkpoint.
  const definitionOf = (index: string): string => {
    const rows = db.prepare('SELECT sql FROM sqlite_master WHERE name = ?').all([index]);
    return (rows as { sql: string | null }[])[0]?.sql ?? '';
  };

  let shared: Map<Statement<unknown>, boolean | null> | undefined;

  /**
   * Returns true if the statement may scan its workspace, null if its cost is not tracked.
   * @throws Error if a tenant statement is not bound to its workspace, or if a system statement is not valid SQL for this schema
   */
  const check = (statement: Statement<unknown>, created: () => Prepared): boolean | null => {
    const { reach, terms } = statement;
    const plan = reach === 'tenant' ? explained(planner, statement.text) : [];
    const breach = reach === 'tenant' ? tenantBreach(statement, plan) : null;
    if (breach)
      throw new Error(
        `Statement ${statement.name} is not bound to its workspace: ${breach}\n${statement.sql}`,
      );
    // EXPLAIN has already checked the syntax of tenant statements.
    if (reach === 'system') created();
    if (terms === undefined) return null;
    return terms === null || isScan(plan, terms, definitionOf);
  };

  return (statement: Statement<unknown>): Compiled => {
    const isComposed = statement.name === 'composed';
    // The key is the original SQL, because two statements may differ only in parameter names, which the guard
    // checks.
    const before = isComposed ? composed.get(statement.sql) : compiled.get(statement);
    if (before) return before;
    const prepare = once(() => prepareStatement(db, statement));
    // Composed statements come from requests, so their number is not bounded by the code.
    const checked = isComposed ? null : (shared ??= checkedStatements(db));
    let scans = checked?.get(statement);
    if (scans === undefined) {
      scans = check(statement, prepare);
      checked?.set(statement, scans);
    }
    const created = createCompiled(statement, prepare, scans === null ? null : createPace(scans));
    if (isComposed) composed.set(statement.sql, created);
    else compiled.set(statement, created);
    return created;
  };
}

function explained(planner: Database.Database, text: string): string[] {
  const lines = planner.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[];
  return lines.map((line) => line.detail);
}

function prepareStatement(db: Database.Database, { text, returnsRows }: Statement<unknown>): Prepared {
  const created = db.prepare(text) as unknown as Prepared;
  return returnsRows ? created.raw(true) : created;
}

function createCompiled(
  { returnsRows }: Statement<unknown>,
  prepare: () => Prepared,
  pace: Pace | null,
): Compiled {
  const toRow = once(() =>
    rowMaker(
      returnsRows
        ? prepare()
            .columns()
            .map((column) => column.name)
        : [],
    ),
  );
  return {
    pace,
    get prepared() {
      return prepare();
    },
    get toRow() {
      return toRow();
    },
  };
}

function once<T>(make: () => T): () => T {
  let created: { readonly value: T } | null = null;
  return () => (created ??= { value: make() }).value;
}
