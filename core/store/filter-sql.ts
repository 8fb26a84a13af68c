// Turns a parsed filter into a condition: field names come from a closed table, values are always bound.
import { foldCase, type Filter, type FilterValue } from '../lib/filter.ts';
import type { Condition } from './page.ts';
import type { Value } from './statement.ts';

/** How a filter field is compared in SQL. */
export interface FilterColumn {
  readonly sql: string;
  /** A public value as the column holds it; several for a name that stands for several ids. */
  value?(value: FilterValue): Value | readonly Value[];
  /** For a field of many values: wraps a condition on `sql` into an EXISTS over the join table. */
  wrap?(condition: string): string;
}

export function filterCondition(filter: Filter, columns: Readonly<Record<string, FilterColumn>>): Condition {
  const params: Record<string, Value> = {};
  let count = 0;
  const bound = (column: FilterColumn, value: FilterValue): string[] => {
    const stored = column.value ? column.value(value) : typeof value === 'boolean' ? Number(value) : value;
    return (Array.isArray(stored) ? (stored as readonly Value[]) : [stored as Value]).map((item) => {
      const name = `f${count++}`;
      params[name] = item;
      return `:${name}`;
    });
  };

  /** Bound, because the planner folds a literal and then scans the table without its workspace. */
  const constant = (truth: boolean): string => {
    const name = `f${count++}`;
    params[name] = truth ? 1 : 0;
    return `:${name}`;
  };

  const compile = (node: Filter): string => {
    if ('all' in node)
      return node.all.length === 0 ? constant(true) : `(${node.all.map(compile).join(' AND ')})`;
    if ('any' in node)
      return node.any.length === 0 ? constant(false) : `(${node.any.map(compile).join(' OR ')})`;
    const column = columns[node.field];
    if (!column) throw new Error(`No column for the filter field ${node.field}.`);
    const exists = (condition: string): string => (column.wrap ? column.wrap(condition) : `(${condition})`);
    switch (node.test) {
      case 'in':
      case 'nin': {
        const list = node.values.flatMap((value) => bound(column, value));
        // A name that stands for nothing matches nothing, and its absence everything.
        if (list.length === 0) return constant(node.test === 'nin');
        const inList = `${column.sql} IN (${list.join(', ')})`;
        if (node.test === 'in') return exists(inList);
        return column.wrap ? `NOT ${column.wrap(inList)}` : `(${column.sql} IS NULL OR NOT ${inList})`;
      }
      case 'null':
        if (column.wrap) return node.value ? `NOT ${column.wrap('1')}` : column.wrap('1');
        return `${column.sql} IS ${node.value ? '' : 'NOT '}NULL`;
      case 'contains':
        return exists(`instr(lower(${column.sql}), ${bound(column, foldCase(String(node.value)))[0]}) > 0`);
      case 'startsWith': {
        const [param] = bound(column, foldCase(String(node.value)));
        return exists(`substr(lower(${column.sql}), 1, length(${param})) = ${param}`);
      }
      case 'gt':
      case 'lt':
        return exists(
          `${column.sql} ${node.test === 'gt' ? '>' : '<'} ${bound(column, node.value)[0] ?? 'NULL'}`,
        );
    }
  };
  return { sql: compile(filter), params };
}
