// Order of deliveries per entity, for endpoints that request it. For each order key, only the first open delivery is due. The others are
// chained: the batch that ends one makes the next one due. So a crash cannot break a chain, and a retrying delivery only delays
// deliveries of the same issue (or other object).
import { neverMs, returningWork, type Leases, type WorkQueue } from '../../../kernel/events/work/queue.ts';
import type { WorkRow } from '../../../kernel/events/work/rows.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';

const ahead = `SELECT 1 FROM deliveries AS d INDEXED BY deliveries_ordered JOIN due_work AS w ON w.workspace_id = :ws AND w.id = d.id
  WHERE d.workspace_id = :ws AND d.endpoint_id = :endpointId AND d.order_key = :orderKey
    AND d.status IN ('pending', 'retrying') AND d.id <> :id AND w.due_at <> :never`;

const addInOrder = tenantStatement<WorkRow>(
  'due_work.add_in_order',
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   SELECT :ws, :id, 'delivery', :endpointId, CASE WHEN behind THEN :never ELSE :dueAt END,
     CASE WHEN behind THEN 0 ELSE :leaseUntil END, CASE WHEN behind THEN NULL ELSE :owner END, 1
   FROM (SELECT EXISTS (${ahead}) AS behind)
   ${returningWork}`,
);
const free = tenantStatement<WorkRow>(
  'due_work.free_next',
  `UPDATE due_work SET due_at = :dueAt, lease_until = :leaseUntil, lease_owner = :owner, epoch = epoch + 1
   WHERE workspace_id = :ws AND due_at = :never AND NOT EXISTS (${ahead}) AND id = (
     SELECT d.id FROM deliveries AS d WHERE d.workspace_id = :ws AND d.endpoint_id = :endpointId AND d.order_key = :orderKey
       AND d.status IN ('pending', 'retrying') AND d.id <> :id ORDER BY d.sequence, d.id LIMIT 1)
   ${returningWork}`,
);

const openOfKey = tenantStatement<{ id: string }>(
  'deliveries.open_of_key',
  `SELECT id FROM deliveries INDEXED BY deliveries_ordered WHERE workspace_id = :ws AND endpoint_id = :endpointId
     AND order_key = :orderKey AND status IN ('pending', 'retrying') LIMIT 1`,
);

/** Returns true if an open delivery with the same key is stored. */
export async function isOpenBefore(store: Store, scope: Scope, delivery: Ordered): Promise<boolean> {
  const { endpoint_id: endpointId, order_key: orderKey } = delivery;
  return (await store.readOne(scope, openOfKey, { endpointId, orderKey })) !== undefined;
}

/** Returns the order key for an ordered endpoint: the issue of the event, or else the event's entity. */
export function orderKeyOf(
  endpoint: { readonly ordering: 'none' | 'entity' },
  event: { readonly subjectId: string | null; readonly entityId: string },
): string | null {
  return endpoint.ordering === 'entity' ? (event.subjectId ?? event.entityId) : null;
}

interface Ordered {
  readonly id: string;
  readonly endpoint_id: string;
  readonly order_key: string;
}

/**
 * Queues a delivery like `WorkQueue.add`, but chained behind an open delivery with the same key. The delivery
 * must already be inserted.
 * @param leases the queue, or its draft for planning many rows
 */
export function addInOrderOp(
  queue: WorkQueue,
  leases: Leases,
  scope: Scope,
  delivery: Ordered,
  dueAtMs: number,
): Op {
  const lease = leases.lease(scope, delivery.endpoint_id, dueAtMs);
  return queue.due(tenantOp(scope, addInOrder, { ...keyOf(delivery), ...lease }));
}

/** Makes the next delivery of the key due. Must be in the batch that ends the current one. */
export function freeNextOp(queue: WorkQueue, scope: Scope, ended: Ordered, nowMs: number): Op {
  const lease = queue.lease(scope, ended.endpoint_id, nowMs);
  return queue.due(tenantOp(scope, free, { ...keyOf(ended), ...lease }));
}

export function isOrdered<D extends { readonly order_key: string | null }>(
  delivery: D,
): delivery is D & { readonly order_key: string } {
  return delivery.order_key !== null;
}

function keyOf({ id, endpoint_id: endpointId, order_key: orderKey }: Ordered) {
  return { id, endpointId, orderKey, never: neverMs };
}
