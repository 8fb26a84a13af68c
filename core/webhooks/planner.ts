// Turns a page of events into deliveries: one for each subscriber that wants the event, born leased to this process where
// there is room, held back in the database where its endpoint has none.
import type { Plan } from '../events/consumer.ts';
import { renderEvent, type EventRow } from '../events/event.ts';
import type { WorkQueue } from '../events/work.ts';
import type { Clock } from '../lib/clock.ts';
import type { Ids } from '../lib/ids.ts';
import type { Op, Scope } from '../store/store.ts';
import type { Deliverer, Fresh } from './deliver.ts';
import { newDelivery, queueDeliveryOps } from './deliveries/rows.ts';
import type { Lanes } from './lanes.ts';
import { messageOf } from './payload.ts';
import type { Subscriber, Subscriptions } from './subscriptions.ts';

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
    const ops: Op[] = [];
    /** With the op whose row is to be adopted; null for what is held back. */
    const planned: { readonly fresh: Fresh; readonly at: number | null }[] = [];
    const free = new Map<string, number>();
    const heldBack = new Set<string>();

    const takeRoom = (endpointId: string): boolean => {
      const left = free.get(endpointId) ?? lanes.free(endpointId);
      free.set(endpointId, left - 1);
      return left > 0;
    };

    for (const event of events) {
      const wanting = await subscribersTo(subscriptions, scope, event);
      if (wanting.length === 0) continue;
      const message = messageOf(event, options.baseUrl);
      for (const { endpoint } of wanting) {
        const delivery = newDelivery(options.ids.next('delivery'), endpoint, event, now);
        const hasRoom = takeRoom(endpoint.id);
        ops.push(...queueDeliveryOps(queue, scope, delivery, !hasRoom));
        planned.push({ fresh: { delivery, message }, at: hasRoom ? ops.length - 1 : null });
        if (!hasRoom) heldBack.add(endpoint.id);
      }
    }
    return {
      ops,
      committed(rows) {
        const added = planned.map(({ fresh, at }) => ({
          ...fresh,
          rows: (at === null ? null : rows[at]) ?? [],
        }));
        deliverer.adopt(scope, added, queue);
        for (const endpointId of heldBack) deliverer.noteHeldBack(scope, endpointId, queue);
      },
    };
  };
}

async function subscribersTo(
  subscriptions: Subscriptions,
  scope: Scope,
  event: EventRow,
): Promise<readonly Subscriber[]> {
  const subscribers = await subscriptions.subscribers(scope, event.type);
  if (subscribers.length === 0) return subscribers;
  const { data } = renderEvent(event);
  return subscribers.filter(
    ({ endpoint, wants }) =>
      // An endpoint hears of what happens from its registration on, but for what happens to itself.
      event.sequence > endpoint.sinceSequence && event.entityId !== endpoint.id && wants(data),
  );
}
