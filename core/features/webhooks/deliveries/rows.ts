// Rows of deliveries, attempts and endpoint health. They are written in the batch that moves the work row.
import type { EventRow } from '../../../kernel/events/event.ts';
import { systemStatement, tenantStatement } from '../../../platform/store/statement.ts';
import { systemOp, tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import type { Endpoint } from '../endpoints/model.ts';
import { packHeaders } from './sent-headers.ts';

type DeliveryStatus = 'pending' | 'retrying' | 'delivered' | 'failed' | 'canceled';

/** Reason for a delivery: an event, a replay, a ping, or a sample that is not in the log. */
export type DeliveryOrigin = 'event' | 'replay' | 'ping' | 'sample';

/** A type and not an interface, so that it is assignable to the row type of the store. */
export type DeliveryRow = {
  readonly id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_type: string;
  /** 0 for a sample. Null only before the insert, which uses the sequence of the event appended last in its batch. */
  readonly sequence: number | null;
  readonly origin: DeliveryOrigin;
  /** Deliveries with the same key are sent one after the other. Null for an unordered endpoint. */
  readonly order_key: string | null;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly created_at: number;
  readonly first_attempt_at: number | null;
  readonly next_attempt_at: number | null;
  readonly finished_at: number | null;
};

export const deliveryColumns =
  'id, endpoint_id, event_id, event_type, sequence, origin, order_key, status, attempts, created_at, first_attempt_at, next_attempt_at, finished_at';

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
const insertEnded = tenantStatement(
  'deliveries.insert_ended',
  `INSERT INTO deliveries (workspace_id, id, endpoint_id, event_id, event_type, sequence, origin, order_key, status, attempts,
     created_at, first_attempt_at, next_attempt_at, finished_at)
   VALUES (:ws, :id, :endpointId, :eventId, :eventType, :sequence, :origin, :orderKey, :status, :attempts,
     :createdAt, :firstAttemptAt, :nextAttemptAt, :finishedAt)`,
);
export const findDelivery = tenantStatement<DeliveryRow>(
  'deliveries.find',
  `SELECT ${deliveryColumns} FROM deliveries WHERE workspace_id = :ws AND id = :id`,
);
const move = tenantStatement(
  'deliveries.move',
  `UPDATE deliveries SET status = :status, attempts = :attempts, first_attempt_at = :firstAttemptAt, next_attempt_at = :nextAttemptAt,
     finished_at = :finishedAt WHERE workspace_id = :ws AND id = :id`,
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
const insertAttempt = tenantStatement(
  'attempts.insert',
  `INSERT INTO attempts (workspace_id, delivery_id, number, at, latency_ms, status_code, error, request_headers_json,
     response_headers_json, response_body, truncated)
   VALUES (:ws, :deliveryId, :number, :at, :latencyMs, :statusCode, :error, :requestHeaders, :responseHeaders, :responseBody, :truncated)`,
);
export const attemptsOf = tenantStatement<{
  number: number;
  at: number;
  latency_ms: number;
  status_code: number | null;
  error: string | null;
  request_headers_json: string;
  response_headers_json: string | null;
  response_body: Uint8Array | ArrayBuffer | null;
  truncated: number;
}>(
  'attempts.of_delivery',
  `SELECT number, at, latency_ms, status_code, error, request_headers_json, response_headers_json, response_body, truncated
   FROM attempts WHERE workspace_id = :ws AND delivery_id = :deliveryId ORDER BY number`,
);
export interface EndpointHealth {
  /** Number of failures since the last success. */
  readonly consecutiveFailures: number;
  /** Time of the first of these failures; null if there is none. */
  readonly failingSince: number | null;
  /** Time of the last success. */
  readonly succeededAt: number | null;
}

export const readHealth = tenantStatement<{
  failures: number;
  failing_since: number | null;
  succeeded_at: number | null;
}>(
  'endpoint_health.read',
  'SELECT failures, failing_since, succeeded_at FROM endpoint_health WHERE workspace_id = :ws AND id = :id',
);
const writeHealth = tenantStatement(
  'endpoint_health.write',
  `INSERT INTO endpoint_health (workspace_id, id, failures, failing_since, succeeded_at)
   VALUES (:ws, :id, :consecutiveFailures, :failingSince, :succeededAt)
   ON CONFLICT (workspace_id, id) DO UPDATE SET failures = :consecutiveFailures, failing_since = :failingSince,
     succeeded_at = coalesce(:succeededAt, succeeded_at)`,
);

export const findSample = tenantStatement<{ sample_json: string | null }>(
  'deliveries.sample',
  'SELECT sample_json FROM deliveries WHERE workspace_id = :ws AND id = :id',
);

export function newDelivery(
  id: string,
  endpoint: { readonly id: string; readonly ordering: Endpoint['ordering'] },
  event: Pick<EventRow, 'id' | 'type' | 'subjectId' | 'entityId'> & { readonly sequence: number | null },
  nowMs: number,
  origin: DeliveryOrigin = 'event',
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

export interface DeliveryMove {
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly firstAttemptAt: number | null;
  readonly nextAttemptAt: number | null;
  readonly finishedAt: number | null;
}

/** Inserts a delivery that had no row until it ended. Fails if the id is already stored. */
export function endedDeliveryOp(scope: Scope, delivery: DeliveryRow, to: DeliveryMove): Op {
  return tenantOp(scope, insertEnded, {
    id: delivery.id,
    endpointId: delivery.endpoint_id,
    eventId: delivery.event_id,
    eventType: delivery.event_type,
    sequence: delivery.sequence,
    origin: delivery.origin,
    orderKey: delivery.order_key,
    createdAt: delivery.created_at,
    ...to,
  });
}

export function moveDeliveryOp(scope: Scope, id: string, to: DeliveryMove): Op {
  return tenantOp(scope, move, { id, ...to }, { expectRows: 1 });
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
  const { requestHeaders, responseHeaders, truncated, ...plain } = attempt;
  return tenantOp(scope, insertAttempt, {
    deliveryId: delivery.id,
    ...plain,
    requestHeaders: packHeaders(requestHeaders, { delivery, at: attempt.at }),
    responseHeaders: responseHeaders && JSON.stringify(responseHeaders),
    truncated: truncated ? 1 : 0,
  });
}

export function writeHealthOp(scope: Scope, endpointId: string, health: EndpointHealth): Op {
  return tenantOp(scope, writeHealth, { id: endpointId, ...health });
}
