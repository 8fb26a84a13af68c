// What a delivery sends: its event as the log keeps it, or the sample that it brought along.
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
