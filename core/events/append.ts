// Appends one event to its workspace's log. The sequence and the pending issue number are taken inside the same
// transaction, so they are gap-free and right whatever else is in flight.
import { tenantStatement } from '../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../store/store.ts';
import type { EventRow } from './event.ts';

const append = tenantStatement<{ sequence: number; number: number | null }>(
  'events.append',
  `INSERT INTO events (workspace_id, sequence, id, type, created_at, entity_kind, entity_id, issue_id, number,
     actor_json, cause_json, request_id, traceparent, data_json)
   VALUES (:ws, (SELECT coalesce(max(sequence), 0) + 1 FROM events WHERE workspace_id = :ws), :id, :type, :createdAt,
     :entityKind, :entityId, :issueId, (SELECT number FROM issues WHERE workspace_id = :ws AND id = :numberOf),
     :actor, :cause, :requestId, :traceparent, :data)
   RETURNING sequence, number`,
  { chained: true },
);

export function appendEvent(
  scope: Scope,
  row: Omit<EventRow, 'sequence' | 'number'> & { numberOf: string | null },
): Op {
  return tenantOp(scope, append, {
    id: row.id,
    type: row.type,
    createdAt: row.createdAt,
    entityKind: row.entityKind,
    entityId: row.entityId,
    issueId: row.issueId,
    numberOf: row.numberOf,
    actor: JSON.stringify(row.actor),
    cause: JSON.stringify(row.cause),
    requestId: row.requestId,
    traceparent: row.traceparent,
    data: JSON.stringify(row.data),
  });
}
