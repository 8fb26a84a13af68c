// Appends events to the log of their workspace. Sequences and commit-assigned values are allocated inside the commit
// transaction, so they are gap-free and correct under concurrent writes.
import {
  tenantStatement,
  type SqlRow,
  type Statement,
  type Value,
} from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import {
  commitAssignedRule,
  type Appended,
  type Cause,
  type CommitAssigned,
  type EventHead,
  type EventRow,
} from '../event.ts';
import { eventOf } from './log.ts';
import { causeText, pack, sameAs, type Parts } from './packing.ts';

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
       :entityType, :entityId, :subjectId, ${commitAssigned}, :actor, :cause, :requestId, :traceparent, :data, :packed)
     RETURNING sequence, number AS learned`,
    { chained: true },
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
