// Loads the message of a delivery: its event from the log, or the sample stored with it.
import { LRUCache } from 'lru-cache';
import { findEvent } from '../../../kernel/events/log/log.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import { messageOf, type WebhookMessage } from '../payload.ts';
import { findSample, type DeliveryRow } from './rows.ts';

export async function messageOfDelivery(
  store: Store,
  scope: Scope,
  delivery: DeliveryRow,
  baseUrl: string,
): Promise<WebhookMessage | undefined> {
  if (delivery.origin !== 'sample') {
    const event = await findEvent(store, scope, delivery.event_id);
    return event && messageOf(event, baseUrl);
  }
  const payload = (await findSample.one(store, scope, { id: delivery.id }))?.sample_json;
  return payload == null
    ? undefined
    : { eventId: delivery.event_id, type: delivery.event_type, traceparent: null, payload };
}

/** Size of the message cache, and the approximate size of a message without its payload, in characters. */
const rememberedMax = 16 * 1024 * 1024;
const overhead = 500;

export interface Messages {
  of(scope: Scope, delivery: DeliveryRow): Promise<WebhookMessage | undefined>;
  /** @param soon true if it is about to be sent; messages sent later must not evict it */
  remember(scope: Scope, message: WebhookMessage, soon: boolean): void;
}

/** Caches recent messages: an event is usually delivered to several endpoints, and never changes. */
export function createMessages(store: Store, baseUrl: string): Messages {
  const remembered = new LRUCache<string, WebhookMessage>({
    maxSize: rememberedMax,
    sizeCalculation: ({ payload }) => payload.length + overhead,
  });
  const keyOf = ({ workspaceId }: Scope, eventId: string): string => `${workspaceId} ${eventId}`;
  return {
    async of(scope, delivery) {
      const key = keyOf(scope, delivery.event_id);
      const known = remembered.get(key);
      if (known) return known;
      const message = await messageOfDelivery(store, scope, delivery, baseUrl);
      if (message) remembered.set(key, message);
      return message;
    },
    remember(scope, message, soon) {
      if (soon || remembered.calculatedSize < rememberedMax / 2)
        remembered.set(keyOf(scope, message.eventId), message);
    },
  };
}
