// Reads the event log after a sequence, by id, or of one subject. A page ends at its event limit, or after
// the event that exceeds its byte limit. Long content is read only for wanted events, one at a time.
import { ArchiveError } from '../../../platform/store/files/archive.ts';
import { type Params, type Statement, tenantStatement } from '../../../platform/store/statement.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import type { EventType } from '../catalogue.ts';
import type { EventFacts, EventRow } from '../event.ts';
import { causeOf, distanceOf, fileOf, isHere, type Parts, type StoredParts, unpack } from './packing.ts';
import { eventTable } from '../../tables.ts';

/** Short columns of an event. */
interface Facts {
  sequence: number;
  id: string;
  type: string;
  created_at: number;
  entity_type: string;
  entity_id: string;
  subject_id: string | null;
  learned: number | null;
  actor_json: string;
  request_id: string | null;
  traceparent: string | null;
}
/** Row of a list, in which long columns are null. */
interface ListedEvent extends Facts {
  cause_json: string;
  data_json: string | null;
  packed: StoredParts['packed'];
  long: number;
}

/** Content up to this size is read together with the row (bytes as stored). */
const alongBytesMax = 4 * 1024;
const facts =
  'sequence, id, type, created_at, entity_type, entity_id, issue_id AS subject_id, number AS learned, actor_json, request_id, traceparent';
const parts = 'cause_json, data_json, packed';
const ifShort = (column: string): string =>
  `CASE WHEN octet_length(${column}) <= ${alongBytesMax} THEN ${column} END AS ${column}`;
const listed = `${facts}, cause_json, ${ifShort('data_json')}, ${ifShort('packed')},
  octet_length(data_json) > ${alongBytesMax} OR coalesce(octet_length(packed), 0) > ${alongBytesMax} AS long`;

const afterSequence = tenantStatement<ListedEvent>(
  'events.after',
  `SELECT ${listed} FROM events WHERE workspace_id = :ws AND sequence > :after ORDER BY sequence LIMIT :limit`,
);
const beforeSequence = tenantStatement<ListedEvent>(
  'events.before',
  `SELECT ${listed} FROM events WHERE workspace_id = :ws AND sequence < :before ORDER BY sequence DESC LIMIT :limit`,
);
/** Without the index hint, SQLite scans the log of the whole workspace from that sequence on. */
const ofSubject = tenantStatement<ListedEvent>(
  'events.of_subject',
  `SELECT ${listed} FROM events INDEXED BY events_issue WHERE workspace_id = :ws AND issue_id = :subjectId AND sequence > :after ORDER BY sequence LIMIT :limit`,
);
const byId = tenantStatement<Facts>(
  'events.by_id',
  `SELECT ${facts} FROM events WHERE workspace_id = :ws AND id = :id`,
);
const partsAt = tenantStatement<StoredParts>(
  'events.parts_at',
  `SELECT ${parts} FROM events WHERE workspace_id = :ws AND sequence = :sequence`,
);
const last = tenantStatement<{ sequence: number }>(
  'events.last',
  'SELECT coalesce(max(sequence), 0) AS sequence FROM events WHERE workspace_id = :ws',
);

const timeOf = eventTable.select('time_of', ['created_at'], ['sequence']);

export interface LogQuery {
  /** Limit of examined events. */
  readonly limit: number;
  /** Filter and limit for the returned events; by default all examined events. */
  readonly matches?: (event: EventFacts) => boolean;
  readonly eventsMax?: number;
  /** The page ends after the event that exceeds this limit. */
  readonly bytesMax?: number;
}

export interface LogPage {
  readonly events: readonly EventRow[];
  readonly bytes: number;
  /** Sequence of the last examined event; the start position if none was examined. */
  readonly through: number;
  readonly examined: number;
  /** True if the log may continue after `through`. */
  readonly more: boolean;
}

const bytesMaxDefault = 4 * 1024 * 1024;

/** Returns events in ascending order. */
export const pageAfter = (store: Store, scope: Scope, after: number, query: LogQuery): Promise<LogPage> =>
  readLog(store, scope, afterSequence, { after }, after, query);

/** Returns events in descending order. */
export const pageBefore = (store: Store, scope: Scope, before: number, query: LogQuery): Promise<LogPage> =>
  readLog(store, scope, beforeSequence, { before }, before, query);

/** Returns events in ascending order. */
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
  position: Params,
  from: number,
  { limit, matches = () => true, eventsMax = limit, bytesMax = bytesMaxDefault }: LogQuery,
): Promise<LogPage> {
  const rows = await store.read(scope, statement, { ...position, limit });
  const events: EventRow[] = [];
  let bytes = 0;
  let through = from;
  let examined = 0;
  for (const row of rows) {
    const event = new StoredEventRow(scope, row);
    if (matches(event)) {
      if (events.length === eventsMax || bytes > bytesMax) break;
      event.parts = partsAlong(row) ?? (await readParts(store, scope, row.sequence));
      bytes += event.dataJson.length;
      events.push(event);
    }
    through = row.sequence;
    examined++;
  }
  return { events, bytes, through, examined, more: examined < rows.length || rows.length === limit };
}

const atSequences = tenantStatement<ListedEvent>(
  'events.at_sequences',
  `SELECT ${listed} FROM events WHERE workspace_id = :ws AND sequence IN (SELECT value FROM json_each(:sequences))`,
);

/** Returns the events with these sequences, in no particular order. */
export async function eventsAt(
  store: Store,
  scope: Scope,
  sequences: readonly number[],
): Promise<EventRow[]> {
  if (sequences.length === 0) return [];
  const rows = await store.read(scope, atSequences, { sequences: JSON.stringify(sequences) });
  return Promise.all(
    rows.map(async (row) =>
      eventOf(scope, row, partsAlong(row) ?? (await readParts(store, scope, row.sequence))),
    ),
  );
}

export async function findEvent(store: Store, scope: Scope, id: string): Promise<EventRow | undefined> {
  const row = await store.readOne(scope, byId, { id });
  return row && eventOf(scope, row, await readParts(store, scope, row.sequence));
}

/** Returns null if the content is long or stored elsewhere. */
function partsAlong({ cause_json, data_json, packed, long }: ListedEvent): Parts | null {
  if (long === 1 || data_json === null) return null;
  const stored = { cause_json, data_json, packed };
  return isHere(stored) ? unpack(stored) : null;
}

/**
 * Returns the content of the event with this sequence.
 * @throws Error if there is no such event, ArchiveError
 */
export async function readParts(store: Store, scope: Scope, sequence: number): Promise<Parts> {
  const stored = await store.readOne(scope, partsAt, { sequence });
  if (!stored) throw new Error(`The event ${sequence} is missing.`);
  const file = fileOf(stored);
  if (file !== null) return archivedParts(store, scope, file, sequence);
  const distance = distanceOf(stored);
  return distance > 0 ? readParts(store, scope, sequence - distance) : unpack(stored);
}

const findFile = tenantStatement<{ first: number; last: number; sha256: string }>(
  'event_files.find',
  `SELECT first_sequence AS first, last_sequence AS last, sha256 FROM event_files
   WHERE workspace_id = :ws AND first_sequence = :first`,
);

/** Returns one line of an archive file, as JSON. */
export const partsText = ({ cause, data }: Parts): string => JSON.stringify([cause, data]);

export function partsIn(text: string): Parts {
  const [cause, data] = JSON.parse(text) as [string, string];
  return { cause, data };
}

/**
 * Reads the content of an archived event from its archive file. The row of the event stays in the database,
 * so lookups, lists and permission checks work as for any other event.
 * @param first first sequence in the archive file
 * @throws ArchiveError
 */
async function archivedParts(store: Store, scope: Scope, first: number, sequence: number): Promise<Parts> {
  const file = await store.readOne(scope, findFile, { first });
  if (!file)
    throw new ArchiveError(
      `The archive file of event ${sequence} is not recorded in the database. Run \`tatami doctor\`.`,
    );
  const text = (await store.archive.read(scope.workspaceId, file)).get(sequence);
  if (text === undefined)
    throw new ArchiveError(
      `Event ${sequence} is missing from its archive file. Restore the file from a backup.`,
    );
  return partsIn(text);
}

export function eventOf(scope: Scope, row: Facts, parts: Parts): EventRow {
  const event = new StoredEventRow(scope, row);
  event.parts = parts;
  return event;
}

/** Returns 0 for an empty log. */
export async function lastSequence(store: Store, scope: Scope): Promise<number> {
  return (await store.readOne(scope, last))?.sequence ?? 0;
}

/** Returns the creation time of an event, in Unix milliseconds; undefined if there is no such event. */
export async function timeOfEvent(store: Store, scope: Scope, sequence: number): Promise<number | undefined> {
  return (await timeOf.one(store, scope, { sequence }))?.created_at;
}

/**
 * Returns the first sequence at or after a time; `end + 1` if there is none. Binary search needs no index,
 * because times ascend with sequences unless the clock was set back.
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
    const time = (await timeOf.one(store, scope, { sequence: middle }))?.created_at ?? Infinity;
    if (time < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the first event of a type and entity at or after a time. */
export async function findEventOf(
  store: Store,
  scope: Scope,
  of: { readonly type: EventType; readonly entityId: string; readonly sinceMs: number },
): Promise<EventRow | undefined> {
  const matches = ({ type, entityId }: EventFacts): boolean => type === of.type && entityId === of.entityId;
  const first = await firstSequenceSince(store, scope, of.sinceMs, await lastSequence(store, scope));
  for (let after = first - 1; ;) {
    const page = await pageAfter(store, scope, after, { limit: 200, matches, eventsMax: 1 });
    const [match] = page.events;
    if (match || !page.more) return match;
    after = page.through;
  }
}

/** Parses JSON on first access, because most readers use only the type. */
class StoredEventRow implements EventRow {
  readonly #row: Facts;
  #data: EventRow['data'] | undefined;
  readonly workspaceId: string;
  /** Null until the content is read, which happens only for matching events. */
  parts: Parts | null = null;

  constructor(scope: Scope, row: Facts) {
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
  get entityType(): string {
    return this.#row.entity_type;
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
    return causeOf(this.#known().cause, this.id);
  }
  get requestId(): string | null {
    return this.#row.request_id;
  }
  get traceparent(): string | null {
    return this.#row.traceparent;
  }
  get dataJson(): string {
    return this.#known().data;
  }
  get data(): EventRow['data'] {
    return (this.#data ??= JSON.parse(this.dataJson) as EventRow['data']);
  }
  get commitAssigned(): number | null {
    return this.#row.learned;
  }
  #known(): Parts {
    if (!this.parts) throw new Error('The content of an event was accessed before it was read.');
    return this.parts;
  }
}
