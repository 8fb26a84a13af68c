// Turns a page of events into deliveries: one for each subscriber that wants the event.
import type { Plan } from '../../events/consumer.ts';
import type { EventRow } from '../../events/event.ts';
import type { WorkQueue } from '../../events/work.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Ids } from '../../lib/ids.ts';
import { idPrefixes } from '../../lib/ids.ts';
import type { Scope } from '../../store/store.ts';
import type { Deliverer } from './deliverer.ts';
import { queueDeliveriesOps } from '../deliveries/queue.ts';
import { newDelivery, type DeliveryRow } from '../deliveries/rows.ts';
import { messageOf, type Message } from '../payload.ts';
import type { Subscriptions } from '../subscriptions.ts';

/** A batch holds up everything else while it is written. So many deliveries take about ten milliseconds. */
const deliveriesAtOnce = 1_000;

export function createPlanner(options: {
  clock: Clock;
  ids: Ids;
  baseUrl: string;
  subscriptions: Subscriptions;
  deliverer: Deliverer;
  queue: WorkQueue;
}): (scope: Scope, events: readonly EventRow[]) => Promise<Plan> {
  const { clock, subscriptions, deliverer, queue } = options;

  return async (scope, events) => {
    const now = clock.nowMs();
    const deliveries: DeliveryRow[] = [];
    const messages = new Map<string, Message>();
    let through = 0;

    for (const event of events) {
      if (deliveries.length >= deliveriesAtOnce) break;
      through = event.sequence;
      const wanting = await subscriptions.wanting(scope, event);
      if (wanting.length === 0) continue;
      messages.set(event.id, messageOf(event, options.baseUrl));
      for (const endpoint of wanting)
        deliveries.push(newDelivery(options.ids.next(idPrefixes.delivery), endpoint, event, now));
    }
    const ops = queueDeliveriesOps(queue, scope, deliveries, (delivery, soon) => {
      const message = messages.get(delivery.event_id);
      if (message) deliverer.remember(scope, delivery, message, soon);
    });
    return { through, ops };
  };
}
