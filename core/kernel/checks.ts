// Checks and facts that features add to `tatami doctor`. Checks read a data directory, and facts compare the rows of
// an object with its last event.
import type { Connection } from '../platform/store/engine/looking.ts';
import type { SqlRow } from '../platform/store/statement.ts';
import { sameValue } from './changes/change.ts';

/** `note`: information; `warning`: a future problem; `error`: a problem now. */
type Level = 'note' | 'warning' | 'error';

export interface Finding {
  readonly level: Level;
  /** Names the problem and, if no fix repairs it, what to do. */
  readonly message: string;
  /** Id of the fix that repairs the problem with `tatami doctor fix ID`. */
  readonly fix?: string;
  /** Reason to skip the later checks that read the database. */
  readonly blocks?: 'damaged' | 'of an earlier schema';
}

/** @typeParam S what the check reads */
export interface Check<S extends RowSubject = CheckSubject> {
  readonly name: string;
  /** Statement that is true if the check has no findings. */
  readonly holds: string;
  /** True if the check needs a readable database. */
  readonly readsDatabase?: true;
  look(subject: S): Promise<readonly Finding[]> | readonly Finding[];
}

export interface RowCheck extends Check<RowSubject> {
  look(subject: RowSubject): readonly Finding[];
}

export type ReadRows = <R>(sql: string, ...params: readonly (string | number | bigint)[]) => R[];

/** Subject of the checks that read only rows. */
export interface RowSubject {
  /**
   * Read unverified text as blobs, because libsql aborts the process on text that is not UTF-8.
   * @throws Error if the database cannot be opened
   */
  database(): Connection;
  /** Returns all rows of a query; the query must not read text that the `texts` check has not verified. */
  readonly rows: ReadRows;
  readonly archived?: ArchivedEvents;
}

export interface ArchivedEvents {
  /** Returns true if the event is archived. */
  holds(workspaceId: string, sequence: number): boolean;
  /**
   * @param first sequence of the first event in the file
   * @returns data of the event as JSON; null if the file cannot be read
   */
  dataOf(workspaceId: string, first: number, sequence: number): string | null;
  /** Number of events that could not be read. */
  readonly unread: number;
}

/** Data directory that a check of a feature reads. */
export interface CheckSubject extends RowSubject {
  /** The data directory. */
  readonly dir: string;
  /** Process id of the server that uses the directory; null without a server. */
  readonly servedBy: string | null;
  /** 32 bytes; null if the file is missing or invalid. */
  readonly masterKey: Uint8Array | null;
  readonly nowMs: number;
  /** Private networks that outgoing requests may reach. */
  readonly egressAllow: readonly string[];
}

export const note = (message: string, fix?: string): Finding => finding('note', message, fix);
export const warning = (message: string, fix?: string): Finding => finding('warning', message, fix);
export const error = (message: string, fix?: string): Finding => finding('error', message, fix);
/** Returns an error that blocks later checks of the database. */
export const damage = (message: string, fix?: string): Finding => ({
  ...error(message, fix),
  blocks: 'damaged',
});

function finding(level: Level, message: string, fix: string | undefined): Finding {
  return { level, message, ...(fix === undefined ? {} : { fix }) };
}

/** Returns the first items as a list, with the number of the others. */
export function some(items: readonly string[], listedMax = 5): string {
  const more = items.length - listedMax;
  return items.slice(0, listedMax).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

export type Data = Readonly<Record<string, unknown>>;

export interface LastEvent {
  readonly type: string;
  readonly data: Data;
}

/** Looks up referenced objects. */
export interface References {
  /** Returns true if the object is in the log and was deleted or removed; events then contain null for it. */
  isGone(name: string, workspaceId: unknown, id: unknown): boolean;
  /** Returns the id of the team with this key; undefined for an unknown key. */
  teamOf(workspaceId: unknown, key: unknown): string | undefined;
  fieldOf(workspaceId: unknown, id: string): FieldReferred | undefined;
}

interface FieldReferred {
  readonly key: string;
  /** True if the field was deleted; events do not contain values of a deleted field. */
  readonly wasDeleted: boolean;
}

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

/** Returns ids of referenced objects. */
export const idsOf = (logged: unknown): unknown => (logged as readonly unknown[] | undefined)?.map(idOf);

/** Fact of a part of an issue. */
export const issueOfFact = (): Fact => equal('issue', 'issue_id', ({ issue }) => idOf(issue));

/** Returns a time as Unix milliseconds; undefined if the event has no such field. */
export function timeOf(logged: unknown): number | null | undefined {
  if (typeof logged === 'string') return Date.parse(logged);
  return logged === undefined ? undefined : null;
}

/** Returns the id of a referenced object; undefined if the event has no such field. */
export function idOf(logged: unknown): unknown {
  return logged === null || logged === undefined ? logged : (logged as { readonly id: unknown }).id;
}

/** Values of custom fields are stored by field id; events use keys and omit the values of deleted fields. */
export function fieldValuesFact(references: References): Fact {
  return fact('fields', ['fields_json'], (row, { data }) => {
    if (data.fields === undefined) return true;
    const logged = data.fields as Data;
    const stored = Object.entries((storedIn(row, 'fields_json') ?? {}) as Data).map(([id, value]) => ({
      field: references.fieldOf(row.workspace_id, id),
      value,
    }));
    // A deleted field and a later one may have the same key.
    const isStored = ([key, value]: readonly [string, unknown]): boolean =>
      stored.some((one) => one.field?.key === key && sameValue(one.value, value));
    return (
      Object.entries(logged).every(isStored) &&
      stored.every(({ field }) => field && (field.key in logged || field.wasDeleted))
    );
  });
}
