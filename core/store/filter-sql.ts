// Turns a parsed filter into a condition: field names come from a closed table, values are always bound.
import { foldCase, type Filter, type FilterValue } from '../lib/filter.ts';
import type { Condition } from './page.ts';
import type { Value } from './statement.ts';

/** How a filter field is compared in SQL. */
export interface FilterColumn {
  readonly sql: string;
  /** A public value as the column holds it. */
  value?(value: FilterValue): Value;
  /** The column holds what is greater as the lesser value. */
  readonly descends?: boolean;
  /** Where the column holds an id and the filter names it: the ids of all names that pass. */
  ids?(passes: (name: string) => boolean): readonly string[];
  /** Whether a value is such an id: `in` and `nin` take those, too. */
  isId?(value: string): boolean;
  /** Where a table of its own holds the rows of an id, in the order of their creation: see `Condition.listed`. */
  listed?(id: string): string;
  /** Few rows have a value, so that a list had better begin with those than with what is listed elsewhere. */
  readonly few?: true;
  /** For a field of many values: wraps a condition on `sql` into an EXISTS over the join table. */
  wrap?(condition: string): string;
}

/** One condition for each thing that must hold, so that the store can tell which of them an index serves. */
export function filterConditions(
  filters: readonly Filter[],
  columns: Readonly<Record<string, FilterColumn>>,
): Condition[] {
  const params: Record<string, Value> = {};
  let count = 0;
  const bind: Bind = (value) => {
    const name = `f${count++}`;
    params[name] = value;
    return `:${name}`;
  };
  const all = filters.flatMap(parts);
  const isListed = !all.some((part) => isIn(part) && columns[part.field]?.few);
  // All bound in the first: parameters are the query's, whichever condition names them.
  return all.map((part, index) => ({
    sql: compile(part, columns, bind),
    params: index === 0 ? params : {},
    ...(isListed && isIn(part) ? listedIn(part, columns, bind) : {}),
  }));
}

/** Only of one id, as a row may have several. */
function listedIn(
  { field, values }: Listing,
  columns: Readonly<Record<string, FilterColumn>>,
  bind: Bind,
): Pick<Condition, 'listed'> {
  const column = columns[field];
  const [id, ...others] = column?.listed ? valuesOf(column, values) : [];
  return column?.listed && id !== undefined && others.length === 0 ? { listed: column.listed(bind(id)) } : {};
}

const isIn = (part: Filter): part is Listing => 'field' in part && part.test === 'in';

const parts = (filter: Filter): readonly Filter[] => ('all' in filter ? filter.all.flatMap(parts) : [filter]);

/** Gives a value to the statement. @returns the parameter that stands for it */
type Bind = (value: Value) => string;
type Comparison = Extract<Filter, { readonly field: string }>;
type Listing = Extract<Comparison, { readonly test: 'in' | 'nin' }>;

function compile(node: Filter, columns: Readonly<Record<string, FilterColumn>>, bind: Bind): string {
  const all = (nodes: readonly Filter[], word: 'AND' | 'OR'): string =>
    `(${nodes.map((inner) => compile(inner, columns, bind)).join(` ${word} `)})`;
  if ('all' in node) return node.all.length === 0 ? constant(true, bind) : all(node.all, 'AND');
  if ('any' in node) return node.any.length === 0 ? constant(false, bind) : all(node.any, 'OR');
  const column = columns[node.field];
  if (!column) throw new Error(`No column for the filter field ${node.field}.`);
  return comparison(node, column, bind);
}

function comparison(node: Comparison, column: FilterColumn, bind: Bind): string {
  const exists = (condition: string): string => (column.wrap ? column.wrap(condition) : `(${condition})`);
  switch (node.test) {
    case 'in':
    case 'nin':
      return listing(node, column, bind);
    case 'null':
      if (column.wrap) return node.value ? `NOT ${column.wrap('1')}` : column.wrap('1');
      return `${column.sql} IS ${node.value ? '' : 'NOT '}NULL`;
    case 'contains':
    case 'startsWith':
      return exists(text(column, node.test, node.value, bind));
    case 'gt':
    case 'lt':
      return exists(`${column.sql} ${signOf(node.test, column)} ${bind(kept(column, node.value))}`);
  }
}

function signOf(test: 'gt' | 'lt', { descends = false }: FilterColumn): '>' | '<' {
  return (test === 'gt') === descends ? '<' : '>';
}

function listing(node: Listing, column: FilterColumn, bind: Bind): string {
  const list = valuesOf(column, node.values).map(bind);
  // A name that stands for nothing matches nothing, and its absence everything.
  if (list.length === 0) return constant(node.test === 'nin', bind);
  const inList = `${column.sql} IN (${list.join(', ')})`;
  if (node.test === 'in') return column.wrap ? column.wrap(inList) : `(${inList})`;
  return column.wrap ? `NOT ${column.wrap(inList)}` : `(${column.sql} IS NULL OR NOT ${inList})`;
}

function valuesOf(column: FilterColumn, values: readonly FilterValue[]): Value[] {
  if (!column.ids) return values.map((value) => kept(column, value));
  const ids = column.ids((name) => values.includes(name));
  return [...ids, ...values.map(String).filter((value) => column.isId?.(value))];
}

function text(column: FilterColumn, test: 'contains' | 'startsWith', part: string, bind: Bind): string {
  if (column.ids) {
    const ids = column.ids((name) =>
      test === 'contains' ? foldCase(name).includes(part) : foldCase(name).startsWith(part),
    );
    return ids.length === 0 ? constant(false, bind) : `${column.sql} IN (${ids.map(bind).join(', ')})`;
  }
  const param = bind(part);
  return test === 'contains'
    ? `instr(lower(${column.sql}), ${param}) > 0`
    : `substr(lower(${column.sql}), 1, length(${param})) = ${param}`;
}

function kept(column: FilterColumn, value: FilterValue): Value {
  return column.value ? column.value(value) : typeof value === 'boolean' ? Number(value) : value;
}

/** Bound, because the planner folds a literal and then scans the table without its workspace. */
function constant(truth: boolean, bind: Bind): string {
  return bind(truth ? 1 : 0);
}
