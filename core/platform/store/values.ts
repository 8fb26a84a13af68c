// Converts values: checks bound values before they reach libsql, where a boolean would abort the process, undefined and NaN would become
// NULL, a text with U+0000 would be truncated, and a JS number would bind as REAL; and converts results to rows.
import type { Params, SqlRow, Statement, Value } from './statement.ts';

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

/** Column names of a statement, and an empty row to copy. */
export interface RowShape {
  readonly names: readonly string[];
  readonly empty: SqlRow;
}

export function shapeOf(names: readonly string[]): RowShape {
  return { names, empty: Object.fromEntries(names.map((name) => [name, null])) };
}

/** Copies and fills an empty row, which costs half of adding one property after the other. */
export function rowOf({ names, empty }: RowShape, values: readonly Value[]): SqlRow {
  const row: Record<string, Value> = { ...empty };
  for (let i = 0; i < names.length; i++) row[names[i]!] = values[i]!;
  return row;
}
