// Effect of a write, read from its SQL: the table, the columns that may change, and the parameters that identify the rows.
// Caches of rows follow every write by it, so no writer has to name the caches. An effect that is not understood covers more.
import type { Statement } from './statement.ts';

export interface Effect {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
  /** Columns whose values may change; null for all. */
  readonly columns: ReadonlySet<string> | null;
  /** Parameters by column: every written row has these values, before and after the write. */
  readonly keys: ReadonlyMap<string, string>;
}

const verb = /\b(INSERT(?: OR \w+)? INTO|REPLACE INTO|UPDATE(?: OR \w+)?|DELETE FROM) +(?!SET\b)(\w+)/i;

/**
 * Returns null for a statement that only reads.
 * @throws Error for a write whose table is not found
 */
export function effectOf({ sql, name }: Statement<unknown>): Effect | null {
  const text = sql
    .replaceAll(/'[^']*'/g, "''")
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\s+/g, ' ');
  const outer = flattened(text);
  const found = verb.exec(outer);
  if (!found) {
    if (/\b(INSERT|REPLACE INTO|UPDATE|DELETE)\b/i.test(text))
      throw new Error(`The table that ${name} writes is not found in its SQL.`);
    return null;
  }
  const [, what = '', table = ''] = found;
  const rest = outer.slice(found.index + found[0].length);
  if (/^UPDATE/i.test(what)) {
    const columns = columnsSet(rest);
    const keys = [...keysOfCondition(rest)].filter(([column]) => columns && !columns.has(column));
    return { table, kind: 'update', columns, keys: new Map(keys) };
  }
  if (/^DELETE/i.test(what)) return { table, kind: 'delete', columns: null, keys: keysOfCondition(rest) };
  const keys = /REPLACE/i.test(what) ? new Map<string, string>() : keysOfInsert(text, rest, table);
  return { table, kind: 'insert', columns: null, keys };
}

/** Replaces everything in parentheses by `()`. */
function flattened(text: string): string {
  let depth = 0;
  let outer = '';
  for (const char of text) {
    if (char === ')') depth--;
    if (depth === 0) outer += char;
    if (char === '(') depth++;
  }
  return outer;
}

const end = / (?:WHERE|FROM|RETURNING|ORDER BY|LIMIT)\b.*$/i;

/** A column that is set to itself does not change. Returns null if the columns are not known. */
function columnsSet(rest: string): ReadonlySet<string> | null {
  const columns = new Set<string>();
  for (const set of rest
    .replace(/^.*? ?SET /i, '')
    .replace(end, '')
    .split(',')) {
    const [, column = null, value] = /^ *(\w+) *= *(.*?) *$/.exec(set) ?? [];
    if (column === null) return null;
    if (column !== value) columns.add(column);
  }
  return columns;
}

/** Returns the columns that the condition compares with a parameter. */
function keysOfCondition(rest: string): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  const condition = (/ WHERE (.*)$/i.exec(rest)?.[1] ?? '').replace(
    / (?:RETURNING|ORDER BY|LIMIT)\b.*$/i,
    '',
  );
  if (/\bOR\b/i.test(condition)) return keys;
  for (const term of condition.split(/\bAND\b/i)) {
    const [, column, param] = /^ *(\w+) = :(\w+) *$/.exec(term) ?? [];
    if (column !== undefined && param !== undefined) keys.set(column, param);
  }
  return keys;
}

/** An insert that may change another row instead has the values of the key that identifies that row. */
function keysOfInsert(text: string, rest: string, table: string): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  const names = new RegExp(`\\bINTO ${table} ?\\(([^()]*)\\)`, 'i').exec(text)?.[1]?.split(',');
  const values = insertedValues(text, rest);
  if (!names || values?.length !== names.length) return keys;
  for (const [index, value] of values.entries()) {
    const param = /^ *:(\w+) *$/.exec(value)?.[1];
    if (param !== undefined) keys.set(names[index]!.trim(), param);
  }
  if (!/\bON CONFLICT\b/i.test(rest)) return keys;
  const target = new Set(/\bON CONFLICT ?\(([^()]*)\)/i.exec(text)?.[1]?.split(/ *, */));
  return new Map([...keys].filter(([column]) => target.has(column)));
}

/** Returns the expressions of the one inserted row, or of the rows of a SELECT; undefined for several rows. */
function insertedValues(text: string, rest: string): string[] | undefined {
  const selected = /^ ?(?:\(\) ?)?SELECT (?:DISTINCT )?(.*?)(?: FROM\b.*)?$/i.exec(rest)?.[1];
  if (selected !== undefined) return selected.split(',');
  if (!/^ ?(?:\(\) ?)?VALUES ?\(\)(?! ?,)/i.test(rest)) return undefined;
  const from = text.slice(/\bVALUES ?\(/i.exec(text)!.index).replace(/^VALUES ?\(/i, '');
  return splitOuter(from);
}

/** Splits at the commas outside of parentheses, up to the parenthesis that closes the list. */
function splitOuter(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const char of text) {
    if (char === '(') depth++;
    if (char === ')' && depth-- === 0) break;
    if (char === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts;
}
