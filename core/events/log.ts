// Reads the event log: after a sequence, by id, or of one subject. A page ends after so many events, or after the one that passes
// so many bytes: what is long is read only of events that are wanted, one after the other.
import { tenantStatement, type Params, type Statement } from '../store/statement.ts';
import type { Scope, Store } from '../store/store.ts';
import type { EventType } from './catalogue.ts';
import type { EventRow } from './event.ts';
import type { Learned } from './learning.ts';

/** The columns of an event. */
export interface StoredEvent {
  sequence: number;
  id: string;
  type: string;
  created_at: number;
  entity_kind: string;
  entity_id: string;
  subject_id: string | null;
  learned: number | null;
  actor_json: string;
  cause_json: string;
  request_id: string | null;
  traceparent: string | null;
  data_json: string;
}
/** Where its data is long, its length in bytes stands in its place. */
type ListedEvent = Omit<StoredEvent, 'data_json'> & { data_json: string | number };

/** Up to this the data of an event comes along with its row (bytes). */
const alongBytesMax = 4 * 1024;
const facts =
  'sequence, id, type, created_at, entity_kind, entity_id, issue_id AS subject_id, number AS learned, actor_json, cause_json, request_id, traceparent';
const listed = `${facts}, CASE WHEN octet_length(data_json) > ${alongBytesMax} THEN octet_length(data_json)
  ELSE data_json END AS data_json`;

const afterSequence = tenantStatement<ListedEvent>(
  'events.after',
  `SELECT ${listed} FROM events WHERE workspace_id = :ws AND sequence > :after ORDER BY sequence LIMIT :limit`,
);
const beforeSequence = tenantStatement<ListedEvent>(
  'events.before',
  `SELECT ${listed} FROM events WHERE workspace_id = :ws AND sequence < :before ORDER BY sequence DESC LIMIT :limit`,
);
const ofSubject = tenantStatement<ListedEvent>(
  'events.of_subject',
  `SELECT ${listed} FROM events WHERE workspace_id = :ws AND issue_id = :subjectId AND sequence > :after ORDER BY sequence LIMIT :limit`,
);
const byId = tenantStatement<StoredEvent>(
  'events.by_id',
  `SELECT ${facts}, data_json FROM events WHERE workspace_id = :ws AND id = :id`,
);
const dataOf = tenantStatement<{ data_json: string }>(
  'events.data_of',
  'SELECT data_json FROM events WHERE workspace_id = :ws AND sequence = :sequence',
);
const last = tenantStatement<{ sequence: number }>(
  'events.last',
  'SELECT coalesce(max(sequence), 0) AS sequence FROM events WHERE workspace_id = :ws',
);

const timeOf = tenantStatement<{ created_at: number }>(
  'events.time_of',
  'SELECT created_at FROM events WHERE workspace_id = :ws AND sequence = :sequence',
);

/** An event before its data is looked at. */
export type EventFacts = Omit<EventRow, 'data' | 'dataJson'>;

export interface LogQuery {
  /** Events looked at. */
  readonly limit: number;
  /** Of these, the ones that are wanted, and at most so many; by default all. */
  readonly wants?: (event: EventFacts) => boolean;
  readonly eventsMax?: number;
  /** The page ends after the event that passes this. */
  readonly bytesMax?: number;
}

export interface LogPage {
  readonly events: readonly EventRow[];
  readonly bytes: number;
  /** The last event that was looked at; where none was, the place it began at. */
  readonly through: number;
  /** How many were looked at. */
  readonly examined: number;
  /** Whether the log may go on after `through`. */
  readonly more: boolean;
}

const bytesMaxDefault = 4 * 1024 * 1024;

/** Ascending. */
export const pageAfter = (store: Store, scope: Scope, after: number, query: LogQuery): Promise<LogPage> =>
  readLog(store, scope, afterSequence, { after }, after, query);

/** Descending. */
export const pageBefore = (store: Store, scope: Scope, before: number, query: LogQuery): Promise<LogPage> =>
  readLog(store, scope, beforeSequence, { before }, before, query);

/** Ascending. */
export const pageOfSubject = (
  store: Store,
  scope: Scope,
  subjectId: string,
  after: number,
  query: LogQuery,
): Promise<LogPage> => readLog(store, scope, ofSubject, { subjectId, after }, after, query);

async function readLog(
  store: Store,
  scope: Scope,
  statement: Statement<ListedEvent>,
  place: Params,
  from: number,
  { limit, wants = () => true, eventsMax = limit, bytesMax = bytesMaxDefault }: LogQuery,
): Promise<LogPage> {
  const rows = await store.read(scope, statement, { ...place, limit });
  const events: EventRow[] = [];
  let bytes = 0;
  let through = from;
  let examined = 0;
  for (const row of rows) {
    const event = new StoredEventRow(scope, row);
    if (wants(event)) {
      if (events.length === eventsMax || bytes > bytesMax) break;
      bytes += typeof row.data_json === 'number' ? row.data_json : row.data_json.length;
      if (typeof row.data_json === 'number') {
        const found = await store.readOne(scope, dataOf, { sequence: row.sequence });
        row.data_json = found!.data_json;
      }
      events.push(event);
    }
    through = row.sequence;
    examined++;
  }
  return { events, bytes, through, examined, more: examined < rows.length || rows.length === limit };
}

export async function findEvent(store: Store, scope: Scope, id: string): Promise<EventRow | undefined> {
  const row = await store.readOne(scope, byId, { id });
  return row && new StoredEventRow(scope, row);
}

/** An event by its columns, as they were just written. */
export function eventOf(scope: Scope, stored: StoredEvent): EventRow {
  return new StoredEventRow(scope, stored);
}

/** 0 before the first event. */
export async function lastSequence(store: Store, scope: Scope): Promise<number> {
  return (await store.readOne(scope, last))?.sequence ?? 0;
}

/**
 * The first sequence of a moment or later; `end + 1` when there is none. Times ascend with sequences unless the clock was set
 * back, so that a search by halves finds it without an index.
 */
export async function firstSequenceSince(
  store: Store,
  scope: Scope,
  timeMs: number,
  end: number,
): Promise<number> {
  let [low, high] = [1, end + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const time = (await store.readOne(scope, timeOf, { sequence: middle }))?.created_at ?? Infinity;
    if (time < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The JSON of an event is parsed when it is asked for: most readers look at the type and go on. */
class StoredEventRow implements EventRow {
  readonly #row: ListedEvent;
  #data: EventRow['data'] | undefined;
  readonly workspaceId: string;

  constructor(scope: Scope, row: ListedEvent) {
    this.#row = row;
    this.workspaceId = scope.workspaceId;
  }
  get id(): string {
    return this.#row.id;
  }
  get type(): EventType {
    return this.#row.type as EventType;
  }
  get sequence(): number {
    return this.#row.sequence;
  }
  get createdAt(): number {
    return this.#row.created_at;
  }
  get entityKind(): string {
    return this.#row.entity_kind;
  }
  get entityId(): string {
    return this.#row.entity_id;
  }
  get subjectId(): string | null {
    return this.#row.subject_id;
  }
  get actor(): EventRow['actor'] {
    return JSON.parse(this.#row.actor_json);
  }
  get cause(): EventRow['cause'] {
    return JSON.parse(this.#row.cause_json);
  }
  get requestId(): string | null {
    return this.#row.request_id;
  }
  get traceparent(): string | null {
    return this.#row.traceparent;
  }
  get dataJson(): string {
    const text = this.#row.data_json;
    if (typeof text === 'number') throw new Error('The data of an event was asked for before it was read.');
    return text;
  }
  get data(): EventRow['data'] {
    return (this.#data ??= JSON.parse(this.dataJson) as EventRow['data']);
  }
  get learned(): number | null {
    return this.#row.learned;
  }
}

const firstLearned = tenantStatement<{ entity_kind: string; learned: number }>(
  'events.first_learned',
  `SELECT entity_kind, number AS learned FROM events INDEXED BY events_issue
   WHERE workspace_id = :ws AND issue_id = :subjectId AND number IS NOT NULL ORDER BY sequence LIMIT 1`,
);

/** What the commit learned that made a subject. */
export async function learnedOf(store: Store, scope: Scope, subjectId: string): Promise<Learned | null> {
  const row = await store.readOne(scope, firstLearned, { subjectId });
  return row ? { entityKind: row.entity_kind, value: row.learned } : null;
}
