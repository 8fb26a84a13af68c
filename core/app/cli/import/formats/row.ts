// An issue as the export of another tracker has it. Each format reads its files into rows; what becomes of a row is the same for all.
import { systemClock } from '../../../../platform/lib/time/clock.ts';
import { isTime } from '../../../../platform/lib/time/time.ts';

export interface ImportRow {
  /** Place in the file, for messages: `line 3` of a CSV file, `record 3` of a JSON list; both begin at 1. */
  readonly at: string;
  readonly teamName: string;
  /** The key that it has there; else one is made of its name. */
  readonly teamKey?: string;
  readonly labels: readonly string[];
  readonly title: string;
  readonly body: string;
  /** Creation time in the source; null if the file has none. */
  readonly createdAt: string | null;
  readonly startedAt?: string;
  /** Time of completion or cancelation in the source, depending on the state. */
  readonly endedAt?: string;
  /** Invalid or future creation time as written in the file; null if there is none. */
  readonly noTime: string | null;
  /** Stable across exports of the same issue. */
  readonly externalId: string;
  readonly priority?: Priority;
  /** Name of the state in the source. */
  readonly status?: string;
  /** Name or e-mail address of the assignee. */
  readonly assignee?: string;
  /** Name or e-mail address of the creator. */
  readonly creator?: string;
  readonly estimate?: number;
  /** YYYY-MM-DD. */
  readonly dueDate?: string;
  /** Number in the identifier of the source, if the identifier names the team. */
  readonly number?: number;
  /** Name of the project. */
  readonly project?: string;
  /** Milestone of the project. */
  readonly milestone?: Milestone;
  /** The last one that exists on the server is used. */
  readonly cycles?: readonly ImportedCycle[];
  readonly links: readonly ImportedLink[];
  readonly comments: readonly ImportedComment[];
  /** Another id by which rows of the file reference the issue. */
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
  /** ISO 8601; undefined if the file has none. */
  readonly startsAt?: string;
  readonly endsAt?: string;
}

/** Link from the issue of a row to another issue. */
export interface ImportedLink {
  readonly type: 'child_of' | 'parent_of' | RelationType;
  /** External id of the other issue, or another id of its row. */
  readonly to: string;
}

export type RelationType = 'blocks' | 'blocked_by' | 'duplicate_of' | 'duplicated_by' | 'relates_to';

export interface ImportedComment {
  /** Author and time as written in the file; empty if the file has neither an author nor a time. */
  readonly said: string;
  readonly body: string;
}

export type Priority = 'none' | 'low' | 'medium' | 'high' | 'urgent';

/** Receives everything in a file that is not imported. */
export interface RowReporter {
  /** Reports an invalid row, its position and the reason. */
  bad(at: string, why: string): void;
  /** Counts a value that has no equivalent, by its description, such as `column Reporter`. */
  left(what: string, rows?: number): void;
}

export interface Format {
  /** `externalSource` of the issues. */
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

/** ISO 8601, in UTC where no zone is given; null for what is no time between 1970 and now. */
function pastTimeOf(text: string, nowMs: number): string | null {
  const [, day, clock = '', zone = ''] =
    /^\s*(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?\s*$/i.exec(
      text,
    ) ?? [];
  if (day === undefined) return null;
  const offset = /^[+-]/.test(zone) ? zone.replace(/^(...):?/, '$1:') : 'Z';
  const given = clock === '' ? day : `${day}T${clock}${offset}`;
  if (!isTime(given)) return null;
  const time = Date.parse(given);
  return time >= 0 && time <= nowMs ? new Date(time).toISOString() : null;
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
