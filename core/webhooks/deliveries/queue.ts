// Stores new deliveries and queues their work in the same batch: one, or many that were planned together.
import type { WorkQueue } from '../../events/work.ts';
import type { Op, Scope } from '../../store/store.ts';
import { addInOrderOp, isOrdered } from './order.ts';
import { insertDeliveriesOp, insertDeliveryOp, type DeliveryRow } from './rows.ts';

/** @param sample the payload of a delivery whose event is in no log */
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

/** Told of a delivery that is stored, before its work begins. `soon` says that it begins now, leased to this process. */
interface Stored {
  (delivery: DeliveryRow, soon: boolean): void;
}

/** `queueDeliveryOps` for many deliveries, made at one time and in the order of their events. */
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
  // The leases that `addAll` will give. Its op begins the work at once, so whoever wants to know them must ask before.
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

/** Only its row tells whether an ordered delivery is leased: it is chained where another of its key is open. */
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
