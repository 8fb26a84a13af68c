// Reads the event log: after a sequence, by id, or of one issue.
import { tenantStatement } from '../store/statement.ts';
import type { Scope, Store } from '../store/store.ts';
import type { EventType } from './catalogue.ts';
import type { EventRow } from './event.ts';

interface StoredEvent {
  sequence: number;
  id: string;
  type: string;
  created_at: number;
  entity_kind: string;
  entity_id: string;
  issue_id: string | null;
  number: number | null;
  actor_json: string;
  cause_json: string;
  request_id: string | null;
  traceparent: string | null;
  data_json: string;
}

const columns =
  'sequence, id, type, created_at, entity_kind, entity_id, issue_id, number, actor_json, cause_json, request_id, traceparent, data_json';

const afterSequence = tenantStatement<StoredEvent>(
  'events.after',
  `SELECT ${columns} FROM events WHERE workspace_id = :ws AND sequence > :after ORDER BY sequence LIMIT :limit`,
);
const beforeSequence = tenantStatement<StoredEvent>(
  'events.before',
  `SELECT ${columns} FROM events WHERE workspace_id = :ws AND sequence < :before ORDER BY sequence DESC LIMIT :limit`,
);
const ofIssue = tenantStatement<StoredEvent>(
  'events.of_issue',
  `SELECT ${columns} FROM events WHERE workspace_id = :ws AND issue_id = :issueId AND sequence > :after ORDER BY sequence LIMIT :limit`,
);
const byId = tenantStatement<StoredEvent>(
  'events.by_id',
  `SELECT ${columns} FROM events WHERE workspace_id = :ws AND id = :id`,
);
const last = tenantStatement<{ sequence: number }>(
  'events.last',
  'SELECT coalesce(max(sequence), 0) AS sequence FROM events WHERE workspace_id = :ws',
);

const timeOf = tenantStatement<{ created_at: number }>(
  'events.time_of',
  'SELECT created_at FROM events WHERE workspace_id = :ws AND sequence = :sequence',
);

/** Ascending, at most `limit`. */
export async function eventsAfter(
  store: Store,
  scope: Scope,
  after: number,
  limit: number,
): Promise<EventRow[]> {
  return (await store.read(scope, afterSequence, { after, limit })).map((row) => fromRow(scope, row));
}

/** Descending, at most `limit`. */
export async function eventsBefore(
  store: Store,
  scope: Scope,
  before: number,
  limit: number,
): Promise<EventRow[]> {
  return (await store.read(scope, beforeSequence, { before, limit })).map((row) => fromRow(scope, row));
}

export async function eventsOfIssue(
  store: Store,
  scope: Scope,
  issueId: string,
  after: number,
  limit: number,
): Promise<EventRow[]> {
  return (await store.read(scope, ofIssue, { issueId, after, limit })).map((row) => fromRow(scope, row));
}

export async function findEvent(store: Store, scope: Scope, id: string): Promise<EventRow | undefined> {
  const row = await store.readOne(scope, byId, { id });
  return row && fromRow(scope, row);
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
  readonly #row: StoredEvent;
  #data: EventRow['data'] | undefined;
  readonly workspaceId: string;

  constructor(scope: Scope, row: StoredEvent) {
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
  get issueId(): string | null {
    return this.#row.issue_id;
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
  get data(): EventRow['data'] {
    return (this.#data ??= JSON.parse(this.#row.data_json) as EventRow['data']);
  }
  get number(): number | null {
    return this.#row.number;
  }
}

const fromRow = (scope: Scope, row: StoredEvent): EventRow => new StoredEventRow(scope, row);

const numberOf = tenantStatement<{ number: number }>(
  'events.number_of',
  'SELECT number FROM events WHERE workspace_id = :ws AND issue_id = :issueId AND number IS NOT NULL ORDER BY sequence LIMIT 1',
);

/** The number an issue got when it was committed. */
export async function committedNumber(store: Store, scope: Scope, issueId: string): Promise<number | null> {
  return (await store.readOne(scope, numberOf, { issueId }))?.number ?? null;
}
