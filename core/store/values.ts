// Bound values, checked before they reach libsql: a boolean would abort the process, undefined and NaN would become NULL,
// a text with U+0000 would read back cut, and a JS number would bind as REAL. And what libsql returns, as rows.
import type { Params, Row, Statement, Value } from './statement.ts';

/** Values in the order of the statement's parameters, as libsql takes them. @throws Error naming the statement and the parameter. */
export function bind(statement: Statement<unknown>, params: Params, workspaceId: string | null): Value[] {
  return inOrder(statement, params, workspaceId, asInteger);
}

/**
 * Values in the order of the statement's parameters, each as `convert` makes it of what it was given.
 * @throws Error naming the statement and the parameter.
 */
export function inOrder<V>(
  statement: Statement<unknown>,
  params: Params,
  workspaceId: string | null,
  convert: (value: Value) => V,
): V[] {
  const values = new Array<V>(statement.params.length);
  let given = 0;
  for (let i = 0; i < values.length; i++) {
    const name = statement.params[i]!;
    if (name === 'ws') {
      if (workspaceId === null) throw new Error(`${statement.name} needs a scope.`);
      values[i] = convert(workspaceId);
    } else {
      values[i] = convert(checked(statement.name, name, params[name]));
      given++;
    }
  }
  if (given !== Object.keys(params).length) {
    const extra = Object.keys(params).filter((name) => name === 'ws' || !statement.params.includes(name));
    throw new Error(`${statement.name} has no parameter ${extra.join(', ')}.`);
  }
  return values;
}

/** libsql binds every JS number as REAL. */
export function asInteger(value: Value): Value {
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}

function checked(statement: string, name: string, value: unknown): Value {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new Error(`${statement} :${name} holds U+0000, which would be cut.`);
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

/** The names of a statement's columns, and a row that has them all. */
export interface RowShape {
  readonly names: readonly string[];
  readonly empty: Row;
}

export function shapeOf(names: readonly string[]): RowShape {
  return { names, empty: Object.fromEntries(names.map((name) => [name, null])) };
}

/** Copied and filled, which costs half of giving an object one property after the other. */
export function rowOf({ names, empty }: RowShape, values: readonly Value[]): Row {
  const row: Record<string, Value> = { ...empty };
  for (let i = 0; i < names.length; i++) row[names[i]!] = values[i]!;
  return row;
}
