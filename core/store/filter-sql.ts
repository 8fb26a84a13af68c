// Turns a parsed filter into a condition: field names come from a closed table, values are always bound.
import type { Filter, FilterTest, FilterValue, FilterWay, Listing, Operand, Order } from '../lib/filter.ts';
import { foldName } from '../lib/fold.ts';
import type { Condition } from './page.ts';
import type { Value } from './statement.ts';

/** How a filter field is compared in SQL. */
export interface FilterColumn {
  readonly sql: string;
  /** A public value as the column holds it. */
  value?(value: FilterValue): Value;
  /** The column holds what is greater as the lesser value. */
  readonly descends?: boolean;
  /** Where the column holds an id and the filter says otherwise whose: the ids of all that are meant. */
  ids?(way: FilterWay, values: readonly string[]): readonly string[];
  /** The ids of all whose name passes. */
  named?(passes: (name: string) => boolean): readonly string[];
  /** Where a table of its own holds the rows of an id, in the order of their creation: see `Condition.listed`. */
  listed?(id: string): string;
  /** Few rows have a value, so that a list had better begin with those than with what is listed elsewhere. */
  readonly few?: true;
  /** Text that is stored empty where it is missing, or may be. */
  readonly text?: true;
  /** For a field of many values: wraps a condition on `sql` into an EXISTS over the join table. */
  wrap?(condition: string): string;
}

type Columns = Readonly<Record<string, FilterColumn>>;

/** What compiling needs: how fields lie, where values go, and the moment that relative times are relative to. */
interface Compiling {
  readonly columns: Columns;
  /** Gives a value to the statement. @returns the parameter that stands for it */
  bind(value: Value): string;
  readonly nowMs: number;
}

/** One condition for each thing that must hold, so that the store can tell which of them an index serves. */
export function filterConditions(filters: readonly Filter[], columns: Columns, nowMs: number): Condition[] {
  const params: Record<string, Value> = {};
  let count = 0;
  const bind = (value: Value): string => {
    const name = `f${count++}`;
    params[name] = value;
    return `:${name}`;
  };
  const compiling = { columns, bind, nowMs };
  const all = filters.flatMap(parts);
  const isListed = !all.some((part) => isIn(part) && columns[part.field]?.few);
  // All bound in the first: parameters are the query's, whichever condition names them.
  return all.map((part, index) => ({
    sql: compile(part, compiling),
    params: index === 0 ? params : {},
    ...(isListed && isIn(part) ? listedIn(part, `listed${index}`, compiling) : {}),
  }));
}

/** Only of one id, as a row may have several. */
function listedIn(listing: Listing, param: string, compiling: Compiling): Pick<Condition, 'listed'> {
  const column = compiling.columns[listing.field];
  const [id, ...others] = column?.listed ? valuesOf(listing, column, compiling) : [];
  return column?.listed && id !== undefined && others.length === 0
    ? { listed: { sql: column.listed(`:${param}`), params: { [param]: id } } }
    : {};
}

const isIn = (part: Filter): part is Listing => 'field' in part && part.test === 'in';

const parts = (filter: Filter): readonly Filter[] => ('all' in filter ? filter.all.flatMap(parts) : [filter]);

function compile(node: Filter, compiling: Compiling): string {
  const all = (nodes: readonly Filter[], word: 'AND' | 'OR'): string =>
    `(${nodes.map((inner) => compile(inner, compiling)).join(` ${word} `)})`;
  const { bind } = compiling;
  if ('all' in node) return node.all.length === 0 ? constant(true, bind) : all(node.all, 'AND');
  if ('any' in node) return node.any.length === 0 ? constant(false, bind) : all(node.any, 'OR');
  // What SQL does not know, of a missing value, is false here.
  if ('not' in node) return `(${compile(node.not, compiling)}) IS NOT TRUE`;
  const column = compiling.columns[node.field];
  if (!column) throw new Error(`No column for the filter field ${node.field}.`);
  return comparison(node, column, compiling);
}

function comparison(node: FilterTest, column: FilterColumn, compiling: Compiling): string {
  const { bind } = compiling;
  const exists = (condition: string): string => (column.wrap ? column.wrap(condition) : `(${condition})`);
  switch (node.test) {
    case 'in': {
      const list = valuesOf(node, column, compiling).map(bind);
      // A name that stands for nothing matches nothing.
      return list.length === 0 ? constant(false, bind) : exists(`${column.sql} IN (${list.join(', ')})`);
    }
    case 'null':
      if (column.wrap) return node.value ? `NOT ${column.wrap('1')}` : column.wrap('1');
      return missing(column, node.value);
    case 'contains':
    case 'startsWith':
      return exists(text(column, node.test, node.value, bind));
    default:
      return exists(
        `${column.sql} ${signOf(node.test, column)} ${bind(kept(column, node.value, compiling))}`,
      );
  }
}

/** The length of a text stands in the head of its row, so that a long one is not read. */
function missing({ sql, text }: FilterColumn, isMissing: boolean): string {
  if (!text) return `${sql} IS ${isMissing ? '' : 'NOT '}NULL`;
  return isMissing
    ? `coalesce(octet_length(${sql}), 0) = 0`
    : `(${sql} IS NOT NULL AND octet_length(${sql}) > 0)`;
}

const signs: Readonly<Record<Order, readonly [up: string, down: string]>> = {
  gt: ['>', '<'],
  gte: ['>=', '<='],
  lt: ['<', '>'],
  lte: ['<=', '>='],
};

function signOf(test: Order, { descends = false }: FilterColumn): string {
  return signs[test][descends ? 1 : 0];
}

function valuesOf({ groups }: Listing, column: FilterColumn, compiling: Compiling): Value[] {
  const all = groups.flatMap(({ way, values }): readonly Value[] =>
    way && way.by !== 'id' && column.ids
      ? column.ids(way, values.map(String))
      : values.map((value) => kept(column, value, compiling)),
  );
  return groups.length > 1 ? [...new Set(all)] : all;
}

function text(
  column: FilterColumn,
  test: 'contains' | 'startsWith',
  part: string,
  bind: Compiling['bind'],
): string {
  if (column.named) {
    const ids = column.named((name) =>
      test === 'contains' ? foldName(name).includes(part) : foldName(name).startsWith(part),
    );
    return ids.length === 0 ? constant(false, bind) : `${column.sql} IN (${ids.map(bind).join(', ')})`;
  }
  const param = bind(part);
  return test === 'contains'
    ? `instr(lower(${column.sql}), ${param}) > 0`
    : `substr(lower(${column.sql}), 1, length(${param})) = ${param}`;
}

function kept(column: FilterColumn, operand: Operand, { nowMs }: Compiling): Value {
  const value = typeof operand === 'object' ? operand.at(nowMs) : operand;
  return column.value ? column.value(value) : typeof value === 'boolean' ? Number(value) : value;
}

/** Bound, because the planner folds a literal and then scans the table without its workspace. */
function constant(truth: boolean, bind: Compiling['bind']): string {
  return bind(truth ? 1 : 0);
}
