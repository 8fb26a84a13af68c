// Turns a page of events into deliveries: one for each subscriber that wants the event, born leased to this process where
// there is room, held back in the database where its endpoint has none.
import type { Plan } from '../events/consumer.ts';
import type { EventRow } from '../events/event.ts';
import type { WorkQueue } from '../events/work.ts';
import type { Clock } from '../lib/clock.ts';
import type { Ids } from '../lib/ids.ts';
import type { Scope } from '../store/store.ts';
import type { Deliverer, Fresh } from './deliver.ts';
import { newDelivery, queueDeliveriesOps } from './deliveries/rows.ts';
import type { Lanes } from './lanes.ts';
import { messageOf } from './payload.ts';
import type { Subscriptions } from './subscriptions.ts';

/** One batch holds up everything else while it is written: so many deliveries take about ten milliseconds. */
const deliveriesAtOnce = 1_000;

export function createPlanner(options: {
  clock: Clock;
  ids: Ids;
  baseUrl: string;
  subscriptions: Subscriptions;
  lanes: Lanes;
  deliverer: Deliverer;
  queue: WorkQueue;
}): (scope: Scope, events: readonly EventRow[]) => Promise<Plan> {
  const { clock, subscriptions, lanes, deliverer, queue } = options;

  return async (scope, events) => {
    const now = clock.nowMs();
    const placed: Fresh[] = [];
    const heldBack: Fresh[] = [];
    const free = new Map<string, number>();
    let through = 0;

    const hasRoom = (endpointId: string): boolean => {
      const left = free.get(endpointId) ?? lanes.free(endpointId);
      free.set(endpointId, left - 1);
      return left > 0;
    };

    for (const event of events) {
      if (placed.length + heldBack.length >= deliveriesAtOnce) break;
      through = event.sequence;
      const wanting = await subscriptions.wanting(scope, event);
      if (wanting.length === 0) continue;
      const message = messageOf(event, options.baseUrl);
      for (const endpoint of wanting) {
        const delivery = newDelivery(options.ids.next('delivery'), endpoint, event, now);
        (hasRoom(endpoint.id) ? placed : heldBack).push({ delivery, message });
      }
    }
    const rowsOf = (all: readonly Fresh[]) => all.map(({ delivery }) => delivery);
    const first = queueDeliveriesOps(queue, scope, rowsOf(placed), false);
    return {
      through,
      ops: [...first.ops, ...queueDeliveriesOps(queue, scope, rowsOf(heldBack), true).ops],
      committed(returned) {
        const rows = first.adoptable(returned.slice(0, first.ops.length));
        deliverer.adopt(scope, [...placed, ...heldBack], rows, queue);
        for (const endpointId of new Set(heldBack.map(({ delivery }) => delivery.endpoint_id)))
          deliverer.noteHeldBack(scope, endpointId, queue);
      },
    };
  };
}
