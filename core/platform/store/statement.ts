// Statement registry: all SQL of the service is declared by name, with its reach. A *tenant* statement
// accesses one workspace, because only the Scope of the request can bind `:ws`. A *system* statement crosses
// workspaces and states why it must (key look-up, claims, sweeps, the log head). Also converts bound values
// and results.
import { LRUCache } from 'lru-cache';

export type Value = string | number | bigint | null | Uint8Array;
export type Params = Readonly<Record<string, Value>>;
export type SqlRow = Readonly<Record<string, Value>>;

export interface Statement<R = SqlRow> {
  readonly name: string;
  readonly sql: string;
  readonly reach: 'tenant' | 'system';
  /** Parameter names by position in `text`. */
  readonly params: readonly string[];
  /** The SQL with `?1 ?2 …` for its named parameters. */
  readonly text: string;
  readonly returnsRows: boolean;
  /** True if a batch with this statement enters the hash chain of the log head. */
  readonly chained: boolean;
  /** Select whose rows a write returns, run right after it; an alternative to RETURNING, which costs more than the write of a row. */
  readonly returning: Statement<R> | null;
  /**
   * Conditions of a composed list, from which the engine determines if an index bounds its cost; null if no index can. A list that may scan
   * its workspace is read off the event loop, within a budget.
   */
  readonly terms?: readonly string[] | null;
  /** Phantom type of a row. */
  readonly row?: R;
}

const registry = new Map<string, Statement<unknown>>();
/** Common lists repeat, so their statements are cached. */
const composed = new LRUCache<string, Statement<unknown>>({ max: 500 });

/** Returns every statement declared so far, for tests that try all of them. */
export function registeredStatements(): IterableIterator<Statement<unknown>> {
  return registry.values();
}

/**
 * Declares a statement bound to one workspace by `:ws`.
 * @param options.returning declared select over parameters of this statement
 */
export function tenantStatement<R = SqlRow>(
  name: string,
  sql: string,
  { chained = false, returning = null }: { chained?: boolean; returning?: Statement<R> | null } = {},
): Statement<R> {
  return register({ ...build<R>(name, sql, 'tenant'), chained, returning });
}

/** Declares a statement that crosses workspaces; `why` documents the reason at the declaration. */
export function systemStatement<R = SqlRow>(name: string, why: string, sql: string): Statement<R> {
  if (why.length < 10) throw new Error(`System statement ${name} must state why it crosses workspaces.`);
  return register(build<R>(name, sql, 'system'));
}

/** Builds a tenant statement at run time from a closed grammar (list filters); the engine checks its plan before first use. */
export function composedStatement<R = SqlRow>(sql: string, terms?: readonly string[] | null): Statement<R> {
  let statement = composed.get(sql);
  if (!statement) composed.set(sql, (statement = build<unknown>('composed', sql, 'tenant')));
  return (terms === undefined ? statement : { ...statement, terms }) as Statement<R>;
}

function register<R>(statement: Statement<R>): Statement<R> {
  if (registry.has(statement.name)) throw new Error(`Two statements are named ${statement.name}.`);
  registry.set(statement.name, statement);
  return statement;
}

function build<R>(name: string, sql: string, reach: 'tenant' | 'system'): Statement<R> {
  const params: string[] = [];
  const text = sql.replace(
    /'[^']*'|(?<![:\w]):([a-zA-Z]\w*)/g,
    (match: string, param: string | undefined) => {
      if (param === undefined) return match;
      const known = params.indexOf(param);
      return `?${known >= 0 ? known + 1 : params.push(param)}`;
    },
  );
  const returnsRows = /\bRETURNING\b/i.test(sql) || !/\b(INSERT|UPDATE|DELETE|REPLACE\s+INTO)\b/i.test(sql);
  return { name, sql, reach, params, text, returnsRows, chained: false, returning: null };
}

/** Returns the values in parameter order, as libsql takes them. @throws Error that names the statement and the parameter */
export function bind(statement: Statement<unknown>, params: Params, workspaceId: string | null): Value[] {
  return inOrder(statement, params, workspaceId, asInteger);
}

/** Returns the values in parameter order, each converted by `convert`. @throws Error that names the statement and the parameter */
export function inOrder<V>(
  statement: Statement<unknown>,
  params: Params,
  workspaceId: string | null,
  convert: (value: Value) => V,
): V[] {
  const values = new Array<V>(statement.params.length);
  let bound = 0;
  for (let i = 0; i < values.length; i++) {
    const name = statement.params[i]!;
    if (name === 'ws') {
      if (workspaceId === null) throw new Error(`${statement.name} needs a scope.`);
      values[i] = convert(workspaceId);
    } else {
      values[i] = convert(checked(statement.name, name, params[name]));
      bound++;
    }
  }
  if (bound !== Object.keys(params).length) {
    const extra = Object.keys(params).filter((name) => name === 'ws' || !statement.params.includes(name));
    throw new Error(`${statement.name} has no parameter ${extra.join(', ')}.`);
  }
  return values;
}

/** Converts an integer to BigInt, because libsql binds every JS number as REAL. */
export function asInteger(value: Value): Value {
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}

/**
 * Checks a value before it reaches libsql, where a boolean would abort the process, undefined and NaN would
 * become NULL, and a text with U+0000 would be truncated.
 */
function checked(statement: string, name: string, value: unknown): Value {
  if (typeof value === 'string') {
    if (value.includes('\0'))
      throw new Error(`${statement} :${name} contains U+0000, which would truncate it.`);
    return value;
  }
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw new Error(`${statement} :${name} cannot be bound: ${value}.`);
  }
  if (typeof value === 'bigint') {
    if (BigInt.asIntN(64, value) === value) return value;
    throw new Error(`${statement} :${name} does not fit 64 bits: ${value}.`);
  }
  if (value === null || value instanceof Uint8Array) return value;
  throw new Error(
    `${statement} :${name} cannot be bound: ${value === undefined ? 'it is missing' : typeof value}.`,
  );
}

/** Returns a row by column name for values in column order. */
export type RowMaker = (values: readonly Value[]) => SqlRow;

/** Compiles an object literal, which costs a quarter of filling a copied row column by column. */
export function rowMaker(names: readonly string[]): RowMaker {
  const parts = names.map((name, index) => `${JSON.stringify(name)}: values[${index}]`);
  // oxlint-disable-next-line typescript/no-implied-eval -- the names are quoted, and the statements are the server's own
  return new Function('values', `return { ${parts.join(', ')} };`) as RowMaker;
}
