// An issue as the export of another tracker has it. Each format reads its files into rows; what becomes of a row is the same for all.
import { systemClock } from '../../../lib/clock.ts';
import { pastTimeOf } from '../time.ts';

export interface ImportRow {
  /** Place in the file, for messages: `line 3` of a CSV file, `record 3` of a JSON list; both begin at 1. */
  readonly at: string;
  readonly teamName: string;
  /** The key that it has there; else one is made of its name. */
  readonly teamKey?: string;
  readonly labels: readonly string[];
  readonly title: string;
  readonly body: string;
  /** When it was made there; null where the file says nothing of it. */
  readonly createdAt: string | null;
  readonly startedAt?: string;
  /** When it was completed or canceled there: the state says which. */
  readonly endedAt?: string;
  /** What the file says in place of a time that has passed. */
  readonly noTime: string | null;
  /** The same for the same issue in every export. */
  readonly externalId: string;
  readonly priority?: Priority;
  /** What its state is called there. */
  readonly status?: string;
  /** Name or e-mail address of who works on it. */
  readonly assignee?: string;
  /** Name or e-mail address of who made it. */
  readonly creator?: string;
  readonly estimate?: number;
  /** YYYY-MM-DD. */
  readonly dueDate?: string;
  /** What its identifier counts there, where it stands for the team as well. */
  readonly number?: number;
  /** What its project is called. */
  readonly project?: string;
  /** The step of that project. */
  readonly milestone?: Milestone;
  /** Of several, the last one that is here. */
  readonly cycles?: readonly ImportedCycle[];
  readonly links: readonly ImportedLink[];
  readonly comments: readonly ImportedComment[];
  /** Another id that rows of the file name it by. */
  readonly alsoId?: string;
}

export interface Milestone {
  readonly name: string;
  readonly description?: string;
  /** YYYY-MM-DD. */
  readonly targetDate?: string;
}

export interface ImportedCycle {
  readonly name: string;
  /** ISO 8601; undefined where the file does not say. */
  readonly startsAt?: string;
  readonly endsAt?: string;
}

/** What the issue of a row is to another one. */
export interface ImportedLink {
  readonly type: 'child_of' | 'parent_of' | RelationType;
  /** The other one: its external id, or another id of its row. */
  readonly to: string;
}

export type RelationType = 'blocks' | 'blocked_by' | 'duplicate_of' | 'duplicated_by' | 'relates_to';

export interface ImportedComment {
  /** Who said it when, as the file has it; empty where it does not say. */
  readonly said: string;
  readonly body: string;
}

export type Priority = 'none' | 'low' | 'medium' | 'high' | 'urgent';

/** Told of what does not become a part of an issue. */
export interface RowReporter {
  /** What is no row: where it stands, and why. */
  bad(at: string, why: string): void;
  /** What a row says that nothing here takes, by what it is: `column Reporter`. */
  left(what: string, rows?: number): void;
}

export interface Format {
  /** `externalSource` of its issues. */
  readonly source: string;
  /** Number of records, for files that are not CSV. @throws CommandError */
  count?(file: string): number;
  /** Reads on after a bad row. @throws CommandError where the file cannot be read at all */
  read(
    file: string,
    options: { readonly teamFrom: string | undefined },
    told: RowReporter,
  ): AsyncIterable<ImportRow>;
}

/** The number of an identifier such as ENG-12. */
export function numberIn(identifier: string): number | undefined {
  const number = Number(/-([1-9]\d{0,6})$/.exec(identifier)?.[1]);
  return Number.isNaN(number) ? undefined : number;
}

/** When a row was made, as the file writes it. */
export function timeIn(text: string): Pick<ImportRow, 'createdAt' | 'noTime'> {
  const createdAt = pastTimeOf(text, systemClock.nowMs());
  return { createdAt, noTime: createdAt === null && text.trim() !== '' ? text : null };
}

/** A time that has passed; undefined for any other text. */
export const pastTimeIn = (text: string): string | undefined =>
  pastTimeOf(text, systemClock.nowMs()) ?? undefined;

/** Every text of a row without NUL and halves of surrogate pairs, which cannot be stored. */
export function storable<T>(part: T): T {
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed();
    if (Array.isArray(value)) return value.map(clean);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, clean(inner)]));
  };
  return clean(part) as T;
}

const priorityWords: Readonly<Record<string, Priority>> = {
  none: 'none',
  'no priority': 'none',
  undefined: 'none',
  urgent: 'urgent',
  highest: 'urgent',
  critical: 'urgent',
  blocker: 'urgent',
  high: 'high',
  major: 'high',
  medium: 'medium',
  normal: 'medium',
  low: 'low',
  minor: 'low',
  lowest: 'low',
  trivial: 'low',
};

/** The value of a word; undefined for a word that the list does not have itself, such as `constructor`. */
export function ownValue<V>(list: Readonly<Record<string, V>>, word: string): V | undefined {
  return Object.hasOwn(list, word) ? list[word] : undefined;
}

/** Undefined for words that nobody knows. */
export function priorityIn(word: string): Priority | undefined {
  return ownValue(priorityWords, word.trim().toLowerCase());
}

/** Undefined for what is no number that an estimate can be. */
export function estimateIn(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== '' && value >= 0 && value <= 10_000 ? value : undefined;
}

/** The day of a time as exports write it. */
export function dayIn(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  const iso = /^\s*(\d{4}-\d{2}-\d{2})/.exec(text)?.[1];
  if (iso !== undefined) return iso;
  const time = Date.parse(`${text} UTC`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, 10);
}

/** Names that stand in one value, with commas or semicolons between them. */
export function listed(text: string): string[] {
  return text
    .split(/[,;]/)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** A member of a row that `read` makes of a text; a text that it makes nothing of is counted. */
export function readAs<K extends string, V>(
  name: K,
  text: string,
  read: (text: string) => V | undefined,
  { left }: RowReporter,
): { [P in K]?: V } {
  const value = read(text);
  if (value === undefined && text.trim() !== '') left(`${name} that cannot be read`);
  return optional(name, value);
}

/** A member of a row that is left out where there is nothing to say. */
export function optional<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [P in K]?: V };
}
