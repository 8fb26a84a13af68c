// Remembers deliveries that were just stored and what they send, so that their first attempts need not read that again.
import { LRUCache } from 'lru-cache';
import type { Scope } from '../../store/store.ts';
import type { Messages } from '../deliveries/message.ts';
import type { DeliveryRow } from '../deliveries/rows.ts';
import type { Message } from '../payload.ts';

/** Deliveries remembered; one that finds no room is read again. */
const rememberedMax = 20_000;

export interface Fresh {
  /** @param soon whether it is attempted now; deliveries that come later must not push it out */
  remember(scope: Scope, delivery: DeliveryRow, message: Message, soon: boolean): void;
  /** Answers the row and forgets it. */
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
