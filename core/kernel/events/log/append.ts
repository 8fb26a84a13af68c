// Appends events to the log of their workspace. Sequences and commit-assigned values, such as the number of an
// issue, are allocated inside the commit transaction, so they are gap-free and correct under concurrent writes.
// Objects and responses that were rendered before are completed with the values: docs/decisions/0003.
import {
  tenantStatement,
  type SqlRow,
  type Statement,
  type Value,
} from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import type { EventHead, EventRow, Cause } from '../event.ts';
import { eventOf } from './log.ts';
import { causeText, pack, sameAs, type Parts } from './packing.ts';

export type ObjectBody = Readonly<Record<string, unknown>>;

/**
 * Applies the commit-assigned value of an entity model, such as a number that is allocated inside the
 * transaction. Until the commit, an object is shown without its value; the event stores the value, and every
 * reader shows the completed object.
 */
export interface CommitAssignedRule {
  /** Appends an event and allocates its value; made by `appendStatement`. */
  readonly append: Statement<Appended>;
  /** Matches the JSON of an object whose value is still missing. */
  readonly waits: RegExp;
  /** Adds the value to an object that lacks it; returns any other object unchanged. */
  complete(object: ObjectBody, value: number): ObjectBody;
  /** Removes the fields that depend on a missing value; returns any other object unchanged. */
  hide(object: ObjectBody): ObjectBody;
}

/** Row returned by the statement that appends an event. */
export interface Appended {
  readonly sequence: number;
  readonly learned: number | null;
}

export interface CommitAssigned {
  readonly entityType: string;
  readonly value: number;
}

/** By entity model. Bounded, because only code adds entries. */
const rules = new Map<string, CommitAssignedRule>();

/**
 * Registers a model whose events have a commit-assigned value. Call once per model, before its first event is
 * created or shown.
 */
export function assignAtCommit(entityType: string, rule: CommitAssignedRule): void {
  rules.set(entityType, rule);
}

/** @throws Error if events of the model have no commit-assigned value */
export function commitAssignedRule(entityType: string): CommitAssignedRule {
  const rule = rules.get(entityType);
  if (!rule) throw new Error(`No commit-assigned value is registered for events of ${entityType}.`);
  return rule;
}

const lastAppended = tenantStatement<Appended>(
  'events.last_appended',
  'SELECT sequence, number AS learned FROM events WHERE workspace_id = :ws ORDER BY sequence DESC LIMIT 1',
);

/**
 * The columns `issue_id` and `number` contain the subject and the commit-assigned value of any entity; their
 * names date from the time when only issues had them.
 * @param commitAssigned SQL expression of the commit-assigned value, over `:ws` and `:learnsOf`
 */
export function appendStatement(name: string, commitAssigned: string): Statement<Appended> {
  return tenantStatement<Appended>(
    name,
    `INSERT INTO events (workspace_id, sequence, id, type, created_at, entity_type, entity_id, issue_id, number,
       actor_json, cause_json, request_id, traceparent, data_json, packed)
     VALUES (:ws, (SELECT coalesce(max(sequence), 0) + 1 FROM events WHERE workspace_id = :ws), :id, :type, :createdAt,
       :entityType, :entityId, :subjectId, ${commitAssigned}, :actor, :cause, :requestId, :traceparent, :data, :packed)`,
    { chained: true, returning: lastAppended },
  );
}

const append = appendStatement('events.append', 'NULL');

export interface NewEvent extends EventHead {
  readonly cause: Cause;
  readonly data: Readonly<Record<string, unknown>>;
  readonly commitAssignedOf: string | null;
}

export interface Appending {
  readonly op: Op;
  /** Returns the event as the log stores it. @param returned rows returned by the op */
  appended(returned: readonly SqlRow[]): EventRow;
}

/**
 * Builds the ops that append consecutive events of one batch.
 * @param commitAssigned receives the commit-assigned values, by object id
 */
export function appendEvents(
  scope: Scope,
  events: readonly NewEvent[],
  commitAssigned: Map<string, CommitAssigned>,
): Appending[] {
  let holder: { readonly parts: Parts; readonly at: number } | null = null;
  return events.map((event, at) => {
    const parts = { cause: causeText(event.cause, event.id), data: JSON.stringify(event.data) };
    const distance = holder && isSame(parts, holder.parts) ? at - holder.at : 0;
    const stored = distance > 0 ? sameAs(distance) : pack(parts);
    if (distance === 0) holder = stored.packed ? { parts, at } : null;
    const op = appendOp(scope, event, stored, commitAssigned);
    return {
      op,
      appended: ([row]) => appendedEvent(op, event, parts, row!),
    };
  });
}

const isSame = (a: Parts, b: Parts): boolean => a.data === b.data && a.cause === b.cause;

function appendOp(
  scope: Scope,
  event: NewEvent,
  stored: ReturnType<typeof pack>,
  commitAssigned: Map<string, CommitAssigned>,
): Op {
  const { commitAssignedOf, entityType } = event;
  const params: Record<string, Value> = {
    id: event.id,
    type: event.type,
    createdAt: event.createdAt,
    entityType,
    entityId: event.entityId,
    subjectId: event.subjectId,
    actor: JSON.stringify(event.actor),
    cause: stored.cause_json,
    requestId: event.requestId,
    traceparent: event.traceparent,
    data: stored.data_json,
    packed: stored.packed,
  };
  if (commitAssignedOf === null) return tenantOp(scope, append, params);
  params.learnsOf = commitAssignedOf;
  return tenantOp(scope, commitAssignedRule(entityType).append, params, {
    taken([appended]) {
      const value = appended?.learned ?? null;
      if (value !== null) commitAssigned.set(commitAssignedOf, { entityType, value: Number(value) });
    },
  });
}

function appendedEvent(
  { scope, params: { actor } }: Op,
  event: NewEvent,
  parts: Parts,
  row: SqlRow,
): EventRow {
  const facts = {
    sequence: Number(row.sequence),
    id: event.id,
    type: event.type,
    created_at: event.createdAt,
    entity_type: event.entityType,
    entity_id: event.entityId,
    subject_id: event.subjectId,
    learned: row.learned === null ? null : Number(row.learned),
    actor_json: String(actor),
    request_id: event.requestId,
    traceparent: event.traceparent,
  };
  return eventOf(scope!, facts, parts);
}

/**
 * Adds the commit-assigned values, by object id, to a response body (an object, or a list of objects in
 * `data`).
 */
export function completeBody(body: unknown, values: ReadonlyMap<string, CommitAssigned>): unknown {
  if (!isObjectBody(body)) return body;
  if (Array.isArray(body.data)) return { ...body, data: body.data.map((item) => completeBody(item, values)) };
  const known = values.get(String(body.id));
  return known ? commitAssignedRule(known.entityType).complete(body, known.value) : body;
}

/**
 * Completes the JSON of a response that lacks values.
 * @param find returns the commit-assigned value of an object, by id
 */
export async function completeText(
  text: string,
  find: (id: string) => Promise<CommitAssigned | null>,
): Promise<string> {
  if (!waitsForCommit(text)) return text;
  const body = JSON.parse(text) as ObjectBody;
  const values = new Map<string, CommitAssigned>();
  for (const { id } of (Array.isArray(body.data) ? body.data : [body]) as ObjectBody[]) {
    const assigned = typeof id === 'string' ? await find(id) : null;
    if (assigned) values.set(String(id), assigned);
  }
  return JSON.stringify(completeBody(body, values));
}

const firstCommitAssigned = tenantStatement<{ entity_type: string; learned: number }>(
  'events.first_learned',
  `SELECT entity_type, number AS learned FROM events INDEXED BY events_issue
   WHERE workspace_id = :ws AND issue_id = :subjectId AND sequence > :after AND number IS NOT NULL ORDER BY sequence LIMIT 1`,
);

/**
 * Completes the JSON of a response that was stored in its own batch, before the values were allocated.
 * @param after sequence before the batch; with 0, the values are those of the creation
 */
export function completeStored(store: Store, scope: Scope, text: string, after: number): Promise<string> {
  return completeText(text, async (subjectId) => {
    const row = await store.readOne(scope, firstCommitAssigned, { subjectId, after });
    return row ? { entityType: row.entity_type, value: row.learned } : null;
  });
}

/** Returns true if the JSON of a response lacks a commit-assigned value. */
export function waitsForCommit(text: string): boolean {
  return [...rules.values()].some(({ waits }) => waits.test(text));
}

/** Returns the body of an uncommitted response, without the fields that depend on commit-assigned values. */
export function hidePending(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(hidePending);
  if (!isObjectBody(body)) return body;
  let object = body;
  for (const { hide } of new Set(rules.values())) object = hide(object);
  return 'data' in object ? { ...object, data: hidePending(object.data) } : object;
}

export function isObjectBody(value: unknown): value is ObjectBody {
  return value !== null && typeof value === 'object';
}
