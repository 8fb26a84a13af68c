// Compiles a parsed filter into SQL conditions: field names come from a fixed table, values are always bound.
import type {
  Filter,
  FilterTest,
  FilterValue,
  FilterWay,
  Listing,
  Operand,
  Order,
} from '../lib/filter/filter.ts';
import { foldName } from '../lib/text/words.ts';
import type { Condition } from './page.ts';
import type { Value } from './statement.ts';

/** SQL mapping of a filter field. */
export interface FilterColumn {
  readonly sql: string;
  /** Converts a public value to the stored value. */
  value?(value: FilterValue): Value;
  /** True if a greater public value is stored as a lesser one. */
  readonly descends?: boolean;
  /** For id columns that a filter may address by another key: returns the ids that the values stand for. */
  ids?(way: FilterWay, values: readonly string[]): readonly string[];
  /** Returns the ids of all entities whose name passes. */
  idsByName?(passes: (name: string) => boolean): readonly string[];
  /**
   * Returns the subselect for `Condition.listed`. Only for columns with a separate table that lists, per value
   * of the column, the matching rows in creation order.
   */
  listed?(id: string): string;
  /** True if few rows have a value, so that a query should start from these rows rather than from another column's `listed` subselect. */
  readonly few?: true;
  /** True for a text column that stores a missing value as an empty text, or may do so. */
  readonly text?: true;
  /** For multi-valued fields: wraps a condition on `sql` into an EXISTS over the join table. */
  wrap?(condition: string): string;
}

type Columns = Readonly<Record<string, FilterColumn>>;

/** Compiler context; relative times are resolved against `nowMs`. */
interface Compiling {
  readonly columns: Columns;
  /** Binds a value. @returns its parameter placeholder */
  bind(value: Value): string;
  readonly nowMs: number;
}

/**
 * Returns one condition per AND term, so that the cost estimate can determine which of them an index covers.
 */
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
  // Parameters belong to the whole query, so the first condition carries all of them.
  return all.map((part, index) => {
    const listed = isListed && isIn(part) ? listedIn(part, `listed${index}`, compiling) : undefined;
    return { sql: compile(part, compiling), params: index === 0 ? params : {}, ...(listed && { listed }) };
  });
}

/** Returns a subselect only for a single id: with several ids it could return a row more than once. */
function listedIn(listing: Listing, param: string, compiling: Compiling): Condition['listed'] {
  const column = compiling.columns[listing.field];
  const [id, ...others] = column?.listed ? valuesOf(listing, column, compiling) : [];
  return column?.listed && id !== undefined && others.length === 0
    ? { sql: column.listed(`:${param}`), params: { [param]: id } }
    : undefined;
}

const isIn = (part: Filter): part is Listing => 'field' in part && part.test === 'in';

const parts = (filter: Filter): readonly Filter[] => ('all' in filter ? filter.all.flatMap(parts) : [filter]);

function compile(node: Filter, compiling: Compiling): string {
  const all = (nodes: readonly Filter[], word: 'AND' | 'OR'): string =>
    `(${nodes.map((inner) => compile(inner, compiling)).join(` ${word} `)})`;
  const { bind } = compiling;
  if ('all' in node) return node.all.length === 0 ? constant(true, bind) : all(node.all, 'AND');
  if ('any' in node) return node.any.length === 0 ? constant(false, bind) : all(node.any, 'OR');
  // SQL yields NULL for a missing value; a filter treats it as false.
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
      // An unknown name matches no row.
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
        `${column.sql} ${signOf(node.test, column)} ${bind(storedValue(column, node.value, compiling))}`,
      );
  }
}

/** SQLite stores the length of a text in the row header, so a long text is not read. */
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
      : values.map((value) => storedValue(column, value, compiling)),
  );
  return groups.length > 1 ? [...new Set(all)] : all;
}

function text(
  column: FilterColumn,
  test: 'contains' | 'startsWith',
  part: string,
  bind: Compiling['bind'],
): string {
  if (column.idsByName) {
    const ids = column.idsByName((name) =>
      test === 'contains' ? foldName(name).includes(part) : foldName(name).startsWith(part),
    );
    return ids.length === 0 ? constant(false, bind) : `${column.sql} IN (${ids.map(bind).join(', ')})`;
  }
  const param = bind(part);
  return test === 'contains'
    ? `instr(lower(${column.sql}), ${param}) > 0`
    : `substr(lower(${column.sql}), 1, length(${param})) = ${param}`;
}

function storedValue(column: FilterColumn, operand: Operand, { nowMs }: Compiling): Value {
  const value = typeof operand === 'object' ? operand.at(nowMs) : operand;
  return column.value ? column.value(value) : typeof value === 'boolean' ? Number(value) : value;
}

/**
 * Binds the constant as a parameter, because the planner folds a literal, and then scans the table without
 * its workspace.
 */
function constant(truth: boolean, bind: Compiling['bind']): string {
  return bind(truth ? 1 : 0);
}
