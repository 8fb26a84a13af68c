// The statement registry: all SQL of the service is declared here-style, by name, with its reach.
// A *tenant* statement sees one workspace, because `:ws` is bound by the request's Scope and nothing else can bind it;
// a *system* statement crosses workspaces and states why it must (key look-up, claims, sweeps, the log head).

import { LRUCache } from 'lru-cache';

export type Value = string | number | bigint | null | Uint8Array;
export type Params = Readonly<Record<string, Value>>;
export type Row = Readonly<Record<string, Value>>;

export interface Statement<R = Row> {
  readonly name: string;
  readonly sql: string;
  readonly reach: 'tenant' | 'system';
  /** Parameter names in the order of their position in `text`. */
  readonly params: readonly string[];
  /** The SQL with `?1 ?2 …` for its named parameters. */
  readonly text: string;
  readonly returnsRows: boolean;
  /** Its parameters and returned rows enter the hash chain of the log head. */
  readonly chained: boolean;
  /**
   * Of a composed list: its conditions, from which the engine tells whether an index bounds its cost; null where nothing does.
   * A list that may look at every row is read off the event loop, within a budget.
   */
  readonly terms?: readonly string[] | null;
  /** Phantom: the shape of a row. */
  readonly row?: R;
}

const registry = new Map<string, Statement<unknown>>();
/** The usual lists are asked for again and again. */
const composed = new LRUCache<string, Statement<unknown>>({ max: 500 });

/** Every statement declared so far, for the start-up guard. */
export function registeredStatements(): IterableIterator<Statement<unknown>> {
  return registry.values();
}

/** Declares a statement bound to one workspace by `:ws`. */
export function tenantStatement<R = Row>(
  name: string,
  sql: string,
  options: { chained?: boolean } = {},
): Statement<R> {
  return register(build<R>(name, sql, 'tenant', options.chained ?? false));
}

/** Declares a statement that crosses workspaces; `why` is for the reader of the declaration. */
export function systemStatement<R = Row>(name: string, why: string, sql: string): Statement<R> {
  if (why.length < 10) throw new Error(`System statement ${name} must say why it crosses workspaces.`);
  return register(build<R>(name, sql, 'system', false));
}

/** A tenant statement made at run time from a closed grammar (list filters); the engine checks its plan before first use. */
export function composedStatement<R = Row>(sql: string, terms?: readonly string[] | null): Statement<R> {
  let statement = composed.get(sql);
  if (!statement) composed.set(sql, (statement = build<unknown>('composed', sql, 'tenant', false)));
  return (terms === undefined ? statement : { ...statement, terms }) as Statement<R>;
}

function register<R>(statement: Statement<R>): Statement<R> {
  if (registry.has(statement.name)) throw new Error(`Two statements are named ${statement.name}.`);
  registry.set(statement.name, statement);
  return statement;
}

function build<R>(name: string, sql: string, reach: 'tenant' | 'system', chained: boolean): Statement<R> {
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
  return { name, sql, reach, params, text, returnsRows, chained };
}
