// Order of deliveries per entity, for endpoints that ask for it: of one key only the first open delivery is due, those behind
// it are chained, and whoever ends it frees the next in the same batch. So no crash breaks a chain, and a delivery that is
// being retried holds back only what belongs to the same issue (or other object).
import { neverMs, type WorkQueue } from '../../events/work.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../store/store.ts';
import type { DeliveryRow } from './rows.ts';

/** Later than anything that is merely held back: the end of another delivery makes it due, nothing else. */
const chainedMs = neverMs + 1;

const ahead = `SELECT 1 FROM deliveries AS d JOIN due_work AS w ON w.workspace_id = :ws AND w.id = d.id
  WHERE d.workspace_id = :ws AND d.endpoint_id = :endpointId AND d.order_key = :orderKey
    AND d.status IN ('pending', 'retrying') AND d.id <> :id AND w.due_at <> :chained`;

const addInOrder = tenantStatement<{ id: string; epoch: number; due_at: number }>(
  'due_work.add_in_order',
  `INSERT INTO due_work (workspace_id, id, kind, due_at, lease_until, lease_owner, epoch)
   SELECT :ws, :id, 'delivery', CASE WHEN behind THEN :chained ELSE :dueAt END,
     CASE WHEN behind THEN 0 ELSE :leaseUntil END, CASE WHEN behind THEN NULL ELSE :owner END, 1
   FROM (SELECT EXISTS (${ahead}) AS behind)
   RETURNING id, epoch, CASE WHEN lease_until > 0 THEN due_at ELSE :never END AS due_at`,
);
const free = tenantStatement<{ id: string; epoch: number; due_at: number }>(
  'due_work.free_next',
  `UPDATE due_work SET due_at = :now, lease_until = :leaseUntil, lease_owner = :owner, epoch = epoch + 1
   WHERE workspace_id = :ws AND due_at = :chained AND NOT EXISTS (${ahead}) AND id = (
     SELECT d.id FROM deliveries AS d WHERE d.workspace_id = :ws AND d.endpoint_id = :endpointId AND d.order_key = :orderKey
       AND d.status IN ('pending', 'retrying') AND d.id <> :id ORDER BY d.sequence, d.id LIMIT 1)
   RETURNING id, epoch, CASE WHEN lease_until > 0 THEN due_at ELSE :never END AS due_at`,
);

/** The key of a delivery to an ordered endpoint: its issue, or what else the event is about. */
export function orderKeyOf(
  endpoint: { readonly ordering: 'none' | 'entity' },
  event: { readonly issueId: string | null; readonly entityId: string },
): string | null {
  return endpoint.ordering === 'entity' ? (event.issueId ?? event.entityId) : null;
}

type Ordered = Pick<DeliveryRow, 'id' | 'endpoint_id'> & { readonly order_key: string };

/** As `WorkQueue.add`, but chained where another delivery of its key is open. The delivery's row must be there already. */
export function addInOrderOp(queue: WorkQueue, scope: Scope, delivery: Ordered, dueAtMs: number): Op {
  return tenantOp(scope, addInOrder, { ...keyOf(delivery), ...leaseOf(queue, dueAtMs), dueAt: dueAtMs });
}

/** Makes the next of its key due, once this one has ended in the same batch. What it returns is for `WorkQueue.adopt`. */
export function freeNextOp(queue: WorkQueue, scope: Scope, ended: Ordered, nowMs: number): Op {
  return tenantOp(scope, free, { ...keyOf(ended), ...leaseOf(queue, nowMs), now: nowMs });
}

export function isOrdered<D extends Pick<DeliveryRow, 'order_key'>>(
  delivery: D,
): delivery is D & { readonly order_key: string } {
  return delivery.order_key !== null;
}

function keyOf({ id, endpoint_id: endpointId, order_key: orderKey }: Ordered) {
  return { id, endpointId, orderKey, chained: chainedMs, never: neverMs };
}

function leaseOf(queue: WorkQueue, dueAtMs: number) {
  const leaseUntil = queue.leaseUntil(dueAtMs);
  return { leaseUntil, owner: leaseUntil > 0 ? queue.owner : null };
}
