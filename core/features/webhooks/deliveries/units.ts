// Units of work for deliveries of current events. Most deliveries end with their first attempt and are
// written once, together with the attempt. A delivery that has to wait gets its row and a work row first.
import type { Unit, UnitRows, WorkItem, WorkQueue } from '../../../kernel/events/work/queue.ts';
import { scopeOf, type Scope, type Store } from '../../../platform/store/store.ts';
import type { WebhookMessage } from '../payload.ts';
import { addInOrderOp, isOpenBefore, isOrdered } from './order.ts';
import { findDelivery, insertDeliveriesOp, type DeliveryRow } from './rows.ts';

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
    isStored: async ({ scope, id }) => (await store.readOne(scope, findDelivery, { id })) !== undefined,
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
