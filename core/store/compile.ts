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

/** Plans of declared tenant statements by their text, of the schema that was opened last. */
let known = { schema: '', plans: new Map<string, string[]>() };

/**
 * A plan follows from the text and the schema. A process that opens several databases of one schema asks for each plan once, because to
 * plan all statements is a third of the work of opening a database. Statistics change plans, so that a database with any shares none.
 */
function knownPlans(db: Database.Database): Map<string, string[]> {
  const rows = db.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all([]) as { name: string }[];
  if (rows.some(({ name }) => name.startsWith('sqlite_stat'))) return new Map();
  const schema = JSON.stringify(rows);
  if (known.schema !== schema) known = { schema, plans: new Map() };
  return known.plans;
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

  let shared: Map<string, string[]> | undefined;
  const plans = (): Map<string, string[]> => (shared ??= knownPlans(db));

  /** @throws Error when a tenant statement is not bound to its workspace */
  const planOf = (statement: Statement<unknown>): string[] => {
    const plan = plans().get(statement.text) ?? explained(planner, statement.text);
    // A composed one comes from a request: as many as people think of.
    if (statement.name !== 'composed') plans().set(statement.text, plan);
    const breach = tenantBreach(statement, plan);
    if (breach)
      throw new Error(
        `Statement ${statement.name} is not bound to its workspace: ${breach}\n${statement.sql}`,
      );
    return plan;
  };

  return (statement: Statement<unknown>): Compiled => {
    // By the SQL as written: two texts can differ in their parameters' names alone, and the guard judges those.
    const before = statement.name === 'composed' ? composed.get(statement.sql) : compiled.get(statement);
    if (before) return before;
    const plan = statement.reach === 'tenant' ? planOf(statement) : [];
    const { terms } = statement;
    const pace = terms === undefined ? null : createPace(terms === null || isScan(plan, terms, definitionOf));
    const made = createCompiled(db, statement, pace);
    // Nobody has looked at it yet, not even for its syntax.
    if (statement.reach === 'system') void made.prepared;
    if (statement.name === 'composed') composed.set(statement.sql, made);
    else compiled.set(statement, made);
    return made;
  };
}

function explained(planner: Database.Database, text: string): string[] {
  const lines = planner.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[];
  return lines.map((line) => line.detail);
}

function createCompiled(
  db: Database.Database,
  { text, returnsRows }: Statement<unknown>,
  pace: Pace | null,
): Compiled {
  let prepared: Prepared | null = null;
  let columns: RowShape | null = null;
  const prepare = (): Prepared => {
    const made = db.prepare(text) as unknown as Prepared;
    return returnsRows ? made.raw(true) : made;
  };
  return {
    pace,
    get prepared() {
      return (prepared ??= prepare());
    },
    get columns() {
      return (columns ??= shapeOf(returnsRows ? this.prepared.columns().map((column) => column.name) : []));
    },
  };
}
