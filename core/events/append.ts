// Appends one event to its workspace's log. The sequence, and the value that an event learns, are taken inside the same
// transaction, so that they are gap-free and right whatever else is in flight.
import { tenantStatement, type Statement, type Value } from '../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../store/store.ts';
import type { EventRow } from './event.ts';
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

/** @param learned takes the value that the event learns, by the id of the object that it is of */
export function appendEvent(
  scope: Scope,
  row: Omit<EventRow, 'sequence' | 'learned'> & { learnsOf: string | null },
  learned: Map<string, Learned>,
): Op {
  const { learnsOf, entityKind } = row;
  const params: Record<string, Value> = {
    id: row.id,
    type: row.type,
    createdAt: row.createdAt,
    entityKind,
    entityId: row.entityId,
    subjectId: row.subjectId,
    actor: JSON.stringify(row.actor),
    cause: JSON.stringify(row.cause),
    requestId: row.requestId,
    traceparent: row.traceparent,
    data: JSON.stringify(row.data),
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
