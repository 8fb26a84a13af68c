// A fact compares columns of a row with the last event of its object.
import { sameValue } from '../../../kernel/changes/change.ts';
import type { SqlRow } from '../../../platform/store/statement.ts';
import type { Data, LastEvent } from '../checks/rows/last-event.ts';
import type { References } from './references.ts';

export interface Fact {
  /** Name of the fact in a finding. */
  readonly name: string;
  /** Columns of the row that `agrees` reads. */
  readonly columns: readonly string[];
  agrees(row: SqlRow, event: LastEvent): boolean;
}

/** Facts per contract that cannot be derived from it; each replaces the derived fact of the same name. */
export type SpecialFacts = Readonly<Record<string, (references: References) => readonly Fact[]>>;

export function fact(name: string, columns: readonly string[], agrees: Fact['agrees']): Fact {
  return { name, columns, agrees };
}

/**
 * Returns a fact that compares a column with the logged value; it always agrees if `logged` returns
 * undefined.
 */
export function equal(name: string, column: string, logged: (data: Data, type: string) => unknown): Fact {
  return fact(name, [column], (row, { data, type }) => {
    const value = logged(data, type);
    return value === undefined || sameValue(storedIn(row, column), value);
  });
}

export function storedIn(row: SqlRow, column: string): unknown {
  const value = row[column] ?? null;
  return value !== null && column.endsWith('_json') ? (JSON.parse(String(value)) as unknown) : value;
}

/** Returns a time as Unix milliseconds; undefined if the event has no such field. */
export function timeOf(logged: unknown): number | null | undefined {
  if (typeof logged === 'string') return Date.parse(logged);
  return logged === undefined ? undefined : null;
}

/** Returns the id of a referenced object; undefined if the event has no such field. */
export function idOf(logged: unknown): unknown {
  return logged === null || logged === undefined ? logged : (logged as { readonly id: unknown }).id;
}
