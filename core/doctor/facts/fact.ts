// A fact of a row that its last event tells.
import { sameValue } from '../../changes/change.ts';
import type { Row } from '../../store/statement.ts';
import type { Data, LastEvent } from '../checks/last-event.ts';
import type { References } from './references.ts';

export interface Fact {
  /** Named in a finding. */
  readonly name: string;
  /** Read of the row. */
  readonly columns: readonly string[];
  agrees(row: Row, event: LastEvent): boolean;
}

/** Facts of the rows of a contract that do not follow from it, in the place of those of the same name that do. */
export type SpecialFacts = Readonly<Record<string, (references: References) => readonly Fact[]>>;

export function fact(name: string, columns: readonly string[], agrees: Fact['agrees']): Fact {
  return { name, columns, agrees };
}

/** A column has the value that the event tells; any value where `told` answers undefined. */
export function equal(name: string, column: string, told: (data: Data, type: string) => unknown): Fact {
  return fact(name, [column], (row, { data, type }) => {
    const value = told(data, type);
    return value === undefined || sameValue(storedIn(row, column), value);
  });
}

export function storedIn(row: Row, column: string): unknown {
  const value = row[column] ?? null;
  return value !== null && column.endsWith('_json') ? (JSON.parse(String(value)) as unknown) : value;
}

/** Milliseconds of a time; undefined where the event does not tell it. */
export function timeOf(told: unknown): number | null | undefined {
  if (typeof told === 'string') return Date.parse(told);
  return told === undefined ? undefined : null;
}

/** Id of an object that the event names; undefined where the event does not tell it. */
export function idOf(told: unknown): unknown {
  return told === null || told === undefined ? told : (told as { readonly id: unknown }).id;
}
