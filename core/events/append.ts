// Appends one event to its workspace's log. The sequence, and the value that an event learns, are taken inside the same
// transaction, so that they are gap-free and right whatever else is in flight.
import { tenantStatement, type Row, type Statement, type Value } from '../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../store/store.ts';
import type { EventRow } from './event.ts';
import { eventOf } from './log.ts';
import { learningOf, type Appended, type Learned } from './learning.ts';

/**
 * The columns `issue_id` and `number` were named when only issues had a history and learned something.
 * @param learned SQL of the value, over `:ws` and `:learnsOf`
 */
export function appendStatement(name: string, learned: string): Statement<Appended> {
  return tenantStatement<Appended>(
    name,
    `INSERT INTO events (workspace_id, sequence, id, type, created_at, entity_kind, entity_id, issue_id, number,
       actor_json, cause_json, request_id, traceparent, data_json)
     VALUES (:ws, (SELECT coalesce(max(sequence), 0) + 1 FROM events WHERE workspace_id = :ws), :id, :type, :createdAt,
       :entityKind, :entityId, :subjectId, ${learned}, :actor, :cause, :requestId, :traceparent, :data)
     RETURNING sequence, number AS learned`,
    { chained: true },
  );
}

const append = appendStatement('events.append', 'NULL');

/** An event that is to be appended. */
export type NewEvent = Omit<EventRow, 'sequence' | 'learned' | 'dataJson'> & {
  readonly learnsOf: string | null;
};

/** @param learned takes the value that the event learns, by the id of the object that it is of */
export function appendEvent(scope: Scope, event: NewEvent, learned: Map<string, Learned>): Op {
  const { learnsOf, entityKind } = event;
  const params: Record<string, Value> = {
    id: event.id,
    type: event.type,
    createdAt: event.createdAt,
    entityKind,
    entityId: event.entityId,
    subjectId: event.subjectId,
    actor: JSON.stringify(event.actor),
    cause: JSON.stringify(event.cause),
    requestId: event.requestId,
    traceparent: event.traceparent,
    data: JSON.stringify(event.data),
  };
  if (learnsOf === null) return tenantOp(scope, append, params);
  params.learnsOf = learnsOf;
  return tenantOp(scope, learningOf(entityKind).append, params, {
    taken([appended]) {
      const value = appended?.learned ?? null;
      if (value !== null) learned.set(learnsOf, { entityKind, value: Number(value) });
    },
  });
}

/** The event that an op of `appendEvent` has appended, as the log has it. @param returned the rows that the op returned */
export function appendedEvent(event: NewEvent, op: Op, [appended]: readonly Row[]): EventRow {
  const { params } = op;
  return eventOf(op.scope!, {
    sequence: Number(appended!.sequence),
    id: event.id,
    type: event.type,
    created_at: event.createdAt,
    entity_kind: event.entityKind,
    entity_id: event.entityId,
    subject_id: event.subjectId,
    learned: appended!.learned === null ? null : Number(appended!.learned),
    actor_json: String(params.actor),
    cause_json: String(params.cause),
    request_id: event.requestId,
    traceparent: event.traceparent,
    data_json: String(params.data),
  });
}
