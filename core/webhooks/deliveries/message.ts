// What a delivery sends: its event as the log keeps it, or the sample that it brought along.
import { LRUCache } from 'lru-cache';
import { findEvent } from '../../events/log.ts';
import type { Scope, Store } from '../../store/store.ts';
import { messageOf, type Message } from '../payload.ts';
import { findSample, type DeliveryRow } from './rows.ts';

export async function messageOfDelivery(
  store: Store,
  scope: Scope,
  delivery: DeliveryRow,
  baseUrl: string,
): Promise<Message | undefined> {
  if (delivery.origin !== 'sample') {
    const event = await findEvent(store, scope, delivery.event_id);
    return event && messageOf(event, baseUrl);
  }
  const payload = (await store.readOne(scope, findSample, { id: delivery.id }))?.sample_json;
  return payload == null
    ? undefined
    : { eventId: delivery.event_id, type: delivery.event_type, traceparent: null, payload };
}

/** Payloads remembered, in characters. */
const rememberedMax = 4 * 1024 * 1024;

/**
 * `messageOfDelivery` for many deliveries: endpoints take their turns at the same events, which never change, so the latest are
 * remembered.
 */
export function createMessages(store: Store, baseUrl: string) {
  const remembered = new LRUCache<string, Message>({
    maxSize: rememberedMax,
    sizeCalculation: ({ payload }) => payload.length + 1,
  });
  return async (scope: Scope, delivery: DeliveryRow): Promise<Message | undefined> => {
    const key = `${scope.workspaceId} ${delivery.event_id}`;
    const known = remembered.get(key);
    if (known) return known;
    const message = await messageOfDelivery(store, scope, delivery, baseUrl);
    if (message) remembered.set(key, message);
    return message;
  };
}
