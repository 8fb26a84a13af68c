// Queues deliveries, for endpoints that request it in order per entity: for each order key, only the first
// open delivery is due. The others are chained: the batch that ends one makes the next one due. So a crash
// cannot break a chain, and a retrying delivery only delays deliveries of the same issue (or other object).
import {
  neverMs,
  addedWork,
  returningWork,
  type Leases,
  type WorkQueue,
  type Unit,
  type UnitRows,
  type WorkItem,
} from '../../../kernel/events/work/queue.ts';
import type { WorkRow } from '../../../kernel/events/work/rows.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store, scopeOf } from '../../../platform/store/store.ts';
import { insertDeliveriesOp, insertDeliveryOp, type DeliveryRow, findDelivery } from './rows.ts';
import type { WebhookMessage } from '../payload.ts';

const ahead = `SELECT 1 FROM deliveries AS d INDEXED BY deliveries_ordered JOIN due_work AS w ON w.workspace_id = :ws AND w.id = d.id
  WHERE d.workspace_id = :ws AND d.endpoint_id = :endpointId AND d.order_key = :orderKey
    AND d.status IN ('pending', 'retrying') AND d.id <> :id AND w.due_at <> :never`;

const addInOrder = tenantStatement<WorkRow>(
  'due_work.add_in_order',
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   SELECT :ws, :id, 'delivery', :endpointId, CASE WHEN behind THEN :never ELSE :dueAt END,
     CASE WHEN behind THEN 0 ELSE :leaseUntil END, CASE WHEN behind THEN NULL ELSE :owner END, 1
   FROM (SELECT EXISTS (${ahead}) AS behind)`,
  { returning: addedWork },
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
async function isOpenBefore(store: Store, scope: Scope, delivery: Ordered): Promise<boolean> {
  const { endpoint_id: endpointId, order_key: orderKey } = delivery;
  return (await store.readOne(scope, openOfKey, { endpointId, orderKey })) !== undefined;
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
function addInOrderOp(
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

/**
 * Inserts a delivery and queues its work in the same batch.
 * @param sample payload of a delivery whose event is not in the log
 */
export function queueDeliveryOps(
  queue: WorkQueue,
  scope: Scope,
  delivery: DeliveryRow,
  sample: string | null = null,
): Op[] {
  const { id, endpoint_id: endpointId, created_at: now } = delivery;
  return [
    insertDeliveryOp(scope, delivery, sample),
    isOrdered(delivery)
      ? addInOrderOp(queue, queue, scope, delivery, now)
      : queue.add(scope, endpointId, id, now),
  ];
}

/**
 * Callback for a stored delivery, called before its work starts. `soon` is true if the work starts now,
 * leased to this process.
 */
interface Stored {
  (delivery: DeliveryRow, soon: boolean): void;
}

/** `queueDeliveryOps` for many deliveries created at the same time, in the order of their events. */
export function queueDeliveriesOps(
  queue: WorkQueue,
  scope: Scope,
  deliveries: readonly DeliveryRow[],
  stored: Stored = () => undefined,
): Op[] {
  const [first] = deliveries;
  if (!first) return [];
  const now = first.created_at;
  const leases = queue.draft();
  // Computes the leases that `addAll` will assign. Its op starts the work at once, so the leases must be
  // computed before.
  const plain = deliveries
    .filter((delivery) => !isOrdered(delivery))
    .map((delivery) => ({ delivery, lease: leases.lease(scope, delivery.endpoint_id, now) }));
  const items = plain.map(({ delivery: { id, endpoint_id: subject } }) => ({ id, subject }));
  return [
    insertDeliveriesOp(scope, deliveries, () => {
      for (const { delivery, lease } of plain) stored(delivery, lease.leaseUntil > 0);
    }),
    queue.addAll(scope, items, now),
    ...deliveries
      .filter(isOrdered)
      .map((delivery) => storedFirst(addInOrderOp(queue, leases, scope, delivery, now), delivery, stored)),
  ];
}

/**
 * Calls `stored` from the op of an ordered delivery: only the returned row shows if it is leased, because it
 * may be chained.
 */
function storedFirst(op: Op, delivery: DeliveryRow, stored: Stored): Op {
  return {
    ...op,
    taken(returned) {
      stored(
        delivery,
        returned.some(({ lease_until: leaseUntil }) => Number(leaseUntil) > 0),
      );
      op.taken?.(returned);
    },
  };
}

/**
 * Delivery of a current event. Most end with their first attempt and are written once, together with the
 * attempt. A delivery that has to wait gets its row and a work row first.
 */
export interface DeliveryUnit extends Unit {
  readonly delivery: DeliveryRow;
  readonly message: WebhookMessage;
}

/** @param perform makes the first attempt */
export function deliveryUnit(
  { workspaceId }: Scope,
  delivery: DeliveryRow,
  message: WebhookMessage,
  perform: (item: WorkItem, delivery: DeliveryRow, message: WebhookMessage) => Promise<void>,
): DeliveryUnit {
  const { id, endpoint_id: endpointId, order_key: key } = delivery;
  return {
    delivery,
    message,
    id,
    scope: scopeOf(workspaceId, endpointId),
    subject: endpointId,
    sequence: delivery.sequence ?? 0,
    orderKey: key === null ? null : `${endpointId} ${key}`,
    perform: (item) => perform(item, delivery, message),
  };
}

/** @param remember called for a stored delivery, so that its first attempt need not read it again */
export function deliveryRows(
  store: Store,
  remember: (scope: Scope, delivery: DeliveryRow, message: WebhookMessage, soon: boolean) => void,
  queue: () => WorkQueue,
): UnitRows<DeliveryUnit> {
  return {
    isBlocked: async ({ scope, delivery }) => isOrdered(delivery) && isOpenBefore(store, scope, delivery),
    isStored: async ({ scope, id }) => (await findDelivery.one(store, scope, { id })) !== undefined,
    insertOp: (scope, units) =>
      insertDeliveriesOp(
        scope,
        units.map(({ delivery }) => delivery),
      ),
    addInOrderOp({ scope, delivery }, leases, nowMs) {
      if (!isOrdered(delivery)) throw new Error('A delivery without an order key cannot be added in order.');
      return addInOrderOp(queue(), leases, scope, delivery, nowMs);
    },
    stored: ({ scope, delivery, message }) => remember(scope, delivery, message, false),
  };
}
