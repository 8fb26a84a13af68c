// Cache of deliveries that were just stored, so that their first attempts need not read them again.
import { LRUCache } from 'lru-cache';
import type { Scope } from '../../store/store.ts';
import type { Messages } from '../deliveries/message.ts';
import type { DeliveryRow } from '../deliveries/rows.ts';
import type { WebhookMessage } from '../payload.ts';

/** Limit of cached deliveries; others are read again. */
const rememberedMax = 20_000;

export interface Fresh {
  /** @param soon true if it is attempted now; later deliveries must not evict it */
  remember(scope: Scope, delivery: DeliveryRow, message: WebhookMessage, soon: boolean): void;
  /** Returns the row and removes it from the cache. */
  take(deliveryId: string): DeliveryRow | undefined;
}

export function createFresh(messages: Messages): Fresh {
  const remembered = new LRUCache<string, DeliveryRow>({ max: rememberedMax });
  return {
    remember(scope, delivery, message, soon) {
      messages.remember(scope, message, soon);
      if (soon || remembered.size < rememberedMax / 2) remembered.set(delivery.id, delivery);
    },
    take(deliveryId) {
      const delivery = remembered.get(deliveryId);
      remembered.delete(deliveryId);
      return delivery;
    },
  };
}
