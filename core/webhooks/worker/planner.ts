// Turns a page of events into deliveries, one for each subscribed endpoint.
import type { ConsumerOptions } from '../../events/consumer.ts';
import type { WorkQueue } from '../../events/work.ts';
import type { Clock } from '../../lib/clock.ts';
import { derivedId, idPrefixes } from '../../lib/ids.ts';
import { newDelivery } from '../deliveries/rows.ts';
import { deliveryUnit, type DeliveryUnit } from '../deliveries/units.ts';
import { messageOf } from '../payload.ts';
import type { Subscriptions } from '../subscriptions.ts';
import type { Deliverer } from './deliverer.ts';

/**
 * Number of deliveries after which a page ends, so that many endpoints do not exceed the capacity of the
 * queue.
 */
const deliveriesAtOnce = 1_000;

export function createPlanner(options: {
  clock: Clock;
  baseUrl: string;
  subscriptions: Subscriptions;
  deliverer: Deliverer;
  queue: WorkQueue;
}): ConsumerOptions<DeliveryUnit>['plan'] {
  const { clock, subscriptions, deliverer, queue } = options;
  const perform: Parameters<typeof deliveryUnit>[3] = (item, delivery, message) =>
    deliverer.performPlanned(item, queue, delivery, message);

  return async (scope, events, isMeant, isNew) => {
    const now = clock.nowMs();
    const units: DeliveryUnit[] = [];
    let through = 0;

    for (const event of events) {
      if (units.length >= deliveriesAtOnce) break;
      through = event.sequence;
      const wanting = await subscriptions.wanting(scope, event, isMeant);
      if (wanting.length === 0) continue;
      const message = messageOf(event, options.baseUrl);
      for (const endpoint of wanting) {
        const id = derivedId(idPrefixes.delivery, event.id, endpoint.id);
        if (!(await isNew(id))) continue;
        units.push(deliveryUnit(scope, newDelivery(id, endpoint, event, now), message, perform));
      }
    }
    return { units, notes: [], through };
  };
}
