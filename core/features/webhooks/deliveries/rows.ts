// Rows of deliveries and attempts. They are written in the batch that moves the work row.
import type { EventRow } from '../../../kernel/events/event.ts';
import type { RowOf } from '../../../kernel/table/define.ts';
import { systemStatement, tenantStatement } from '../../../platform/store/statement.ts';
import { systemOp, tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import type { Endpoint } from '../endpoints/model.ts';
import { attemptTable, deliveryTable } from '../tables.ts';
import { packHeaders } from './sent-headers.ts';

type StoredDelivery = RowOf<typeof deliveryTable>;

/** Delivery without its sample. */
export type DeliveryRow = Omit<StoredDelivery, 'sample_json' | 'sequence'> & {
  /** 0 for a sample. Null only before the insert, which uses the sequence of the event appended last in its batch. */
  readonly sequence: number | null;
};

/** Columns of a `DeliveryRow`. */
export const deliveryColumns = [
  ...(['id', 'endpoint_id', 'event_id', 'event_type', 'sequence', 'origin', 'order_key', 'status'] as const),
  ...(['attempts', 'created_at', 'first_attempt_at', 'next_attempt_at', 'finished_at'] as const),
] as const;
const moved = ['status', 'attempts', 'first_attempt_at', 'next_attempt_at', 'finished_at'] as const;
export type DeliveryMove = Pick<StoredDelivery, (typeof moved)[number]>;

export const findDelivery = deliveryTable.select('find', deliveryColumns, ['id']);
export const findSample = deliveryTable.select('sample', ['sample_json'], ['id']);
const insertEnded = deliveryTable.insert('insert_ended', deliveryColumns);
const move = deliveryTable.update('move', moved, ['id']);
const insertAttempt = attemptTable.insert('insert');
export const attemptsOf = attemptTable.selectAll('of_delivery', ['delivery_id'], 'ORDER BY number');

const insert = tenantStatement(
  'deliveries.insert',
  `INSERT INTO deliveries (workspace_id, id, endpoint_id, event_id, event_type, sequence, origin, order_key, sample_json, status, attempts, created_at)
   VALUES (:ws, :id, :endpointId, :eventId, :eventType,
     coalesce(:sequence, (SELECT max(sequence) FROM events WHERE workspace_id = :ws)), :origin, :orderKey, :sample, 'pending', 0, :now)`,
);
const insertAll = tenantStatement(
  'deliveries.insert_all',
  `INSERT INTO deliveries (workspace_id, id, endpoint_id, event_id, event_type, sequence, origin, order_key, status, attempts, created_at)
   SELECT :ws, value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, 'pending', 0, value->>7
   FROM json_each(:deliveries)`,
);
const setBack = systemStatement(
  'deliveries.set_back',
  'the clock was set back for all workspaces',
  `UPDATE deliveries SET first_attempt_at = first_attempt_at - :by, next_attempt_at = next_attempt_at - :by
   WHERE status IN ('pending', 'retrying') AND first_attempt_at IS NOT NULL`,
);
/**
 * Moves the times of retrying deliveries when the clock was set back, so that intervals and deadlines stay the same.
 */
export function setDeliveriesBackOp(byMs: number): Op {
  return systemOp(setBack, { by: byMs });
}
export function newDelivery(
  id: string,
  endpoint: { readonly id: string; readonly ordering: Endpoint['ordering'] },
  event: Pick<EventRow, 'id' | 'type' | 'subjectId' | 'entityId'> & { readonly sequence: number | null },
  nowMs: number,
  origin: DeliveryRow['origin'] = 'event',
): DeliveryRow {
  return {
    id,
    endpoint_id: endpoint.id,
    event_id: event.id,
    event_type: event.type,
    sequence: event.sequence,
    origin,
    order_key: orderKeyOf(endpoint, event),
    status: 'pending',
    attempts: 0,
    created_at: nowMs,
    first_attempt_at: null,
    next_attempt_at: null,
    finished_at: null,
  };
}

/** Returns the order key for an ordered endpoint: the issue of the event, or else the event's entity. */
function orderKeyOf(
  endpoint: { readonly ordering: 'none' | 'entity' },
  event: { readonly subjectId: string | null; readonly entityId: string },
): string | null {
  return endpoint.ordering === 'entity' ? (event.subjectId ?? event.entityId) : null;
}

/** @param sample payload of a delivery whose event is not in the log */
export function insertDeliveryOp(scope: Scope, delivery: DeliveryRow, sample: string | null): Op {
  return tenantOp(scope, insert, {
    id: delivery.id,
    endpointId: delivery.endpoint_id,
    eventId: delivery.event_id,
    eventType: delivery.event_type,
    sequence: delivery.sequence,
    origin: delivery.origin,
    orderKey: delivery.order_key,
    sample,
    now: delivery.created_at,
  });
}

/** @param taken called once they are stored, before the callbacks of later ops in the batch */
export function insertDeliveriesOp(
  scope: Scope,
  deliveries: readonly DeliveryRow[],
  taken: () => void = () => undefined,
): Op {
  const rows = deliveries.map((row) => [
    ...[row.id, row.endpoint_id, row.event_id, row.event_type, row.sequence],
    ...[row.origin, row.order_key, row.created_at],
  ]);
  return tenantOp(scope, insertAll, { deliveries: JSON.stringify(rows) }, { taken });
}

/** Inserts a delivery that had no row until it ended. Fails if the id is already stored. */
export function endedDeliveryOp(scope: Scope, delivery: DeliveryRow, to: DeliveryMove): Op {
  return insertEnded(scope, { ...delivery, sequence: delivery.sequence!, ...to });
}

export function moveDeliveryOp(scope: Scope, id: string, to: DeliveryMove): Op {
  return move(scope, { id, ...to }, { expectRows: 1 });
}

const cancel = tenantStatement(
  'deliveries.cancel',
  `UPDATE deliveries SET status = 'canceled', next_attempt_at = NULL, finished_at = :now
   WHERE workspace_id = :ws AND id = :id AND status IN ('pending', 'retrying')`,
);
export function cancelDeliveryOp(scope: Scope, id: string, nowMs: number): Op {
  return tenantOp(scope, cancel, { id, now: nowMs }, { expectRows: 1 });
}

const noteLateAttempt = tenantStatement(
  'deliveries.note_late_attempt',
  `UPDATE deliveries SET attempts = :attempts, first_attempt_at = coalesce(first_attempt_at, :at),
     status = CASE WHEN :worked = 1 THEN 'delivered' ELSE status END
   WHERE workspace_id = :ws AND id = :id AND status = 'canceled'`,
);
/** Records an attempt that was running when its delivery was canceled. */
export function noteLateAttemptOps(
  scope: Scope,
  delivery: DeliveryRow,
  attempt: DeliveryAttempt,
  worked: boolean,
): Op[] {
  const params = { id: delivery.id, attempts: attempt.number, at: attempt.at, worked: worked ? 1 : 0 };
  return [
    tenantOp(scope, noteLateAttempt, params, { expectRows: 1 }),
    recordAttemptOp(scope, delivery, attempt),
  ];
}

export interface DeliveryAttempt {
  readonly number: number;
  readonly at: number;
  readonly latencyMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, unknown>> | null;
  readonly responseBody: Uint8Array | null;
  readonly truncated: boolean;
}

export function recordAttemptOp(scope: Scope, delivery: DeliveryRow, attempt: DeliveryAttempt): Op {
  return insertAttempt(scope, {
    delivery_id: delivery.id,
    number: attempt.number,
    at: attempt.at,
    latency_ms: attempt.latencyMs,
    status_code: attempt.statusCode,
    error: attempt.error,
    request_headers_json: packHeaders(attempt.requestHeaders, { delivery, at: attempt.at }),
    response_headers_json: attempt.responseHeaders && JSON.stringify(attempt.responseHeaders),
    response_body: attempt.responseBody,
    truncated: attempt.truncated ? 1 : 0,
  });
}
