/** Builds the methods of a client from the table of operations. */
import type { Page } from '../page.ts';
import type { Operations } from '../generated/operations.ts';
import { operations } from '../generated/table.ts';
import type { Call, Method } from './call.ts';
import { listOf } from './list.ts';
import type { ChangeOptions } from './options.ts';

interface Table {
  readonly [name: string]: string | Table;
}
type Query = Readonly<Record<string, unknown>>;
type Perform = (...args: unknown[]) => Promise<unknown>;

export function operationsOf(call: Call): Operations {
  // Types and table are generated from the same routes, but the compiler cannot check that.
  return namespaceOf(operations, call) as object as Operations;
}

function namespaceOf(table: Table, call: Call): object {
  return Object.fromEntries(
    Object.entries(table).map(([name, row]) => [
      name,
      typeof row === 'string' ? methodOf(row, call) : namespaceOf(row, call),
    ]),
  );
}

function methodOf(row: string, call: Call): Perform {
  const [method = '', path = '', ...takes] = row.split(' ');
  return (...args) => {
    const rest = [...args];
    const resolvedPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      segmentOf(row, name, rest.shift()),
    );
    const body = takes.includes('body') ? (rest.shift() ?? {}) : undefined;
    const query = takes.includes('query') ? ((rest.shift() ?? {}) as Query) : {};
    const options = (rest.shift() ?? {}) as ChangeOptions;
    const ask = <T>(more: Query = {}): Promise<T> =>
      call<T>(method as Method, resolvedPath + queryText({ ...query, ...more }), body, options);
    if (!takes.includes('pages')) return ask();
    return listOf((after) => ask<Page<unknown>>(after === null ? {} : { after, cursor: undefined }));
  };
}

function segmentOf(row: string, name: string, value: unknown): string {
  // An unset variable would otherwise address another resource: the list, or an object named "undefined".
  if (typeof value !== 'string' || value === '')
    throw new TypeError(`${row.split(' ', 2).join(' ')}: ${name} must be a non-empty string.`);
  return encodeURIComponent(value);
}

/**
 * Returns the query string: lists are joined with commas, objects are JSON, and undefined values are omitted.
 */
function queryText(query: Query): string {
  const texts = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, textOf(value)]);
  return texts.length === 0 ? '' : `?${new URLSearchParams(texts)}`;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
