// Inserts new deliveries and queues their work in the same batch.
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import type { Op, Scope } from '../../../platform/store/store.ts';
import { addInOrderOp, isOrdered } from './order.ts';
import { insertDeliveriesOp, insertDeliveryOp, type DeliveryRow } from './rows.ts';

/** @param sample payload of a delivery whose event is not in the log */
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
