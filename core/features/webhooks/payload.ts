// Payload of a delivery: the event as in the feed, or a thin form if it exceeds the size limit. Spec:
// docs/spec/webhooks.md › Payload.
import { renderEvent, type EventEnvelope, type EventRow } from '../../kernel/events/event.ts';

export const payloadBytesMax = 256 * 1024;

/** Data shared by all deliveries of an event. */
export interface WebhookMessage {
  readonly eventId: string;
  readonly type: string;
  readonly traceparent: string | null;
  readonly payload: string;
}

export function messageOf(row: EventRow, baseUrl: string): WebhookMessage {
  const { id: eventId, type, traceparent } = row;
  return { eventId, type, traceparent, payload: payloadOfEvent(renderEvent(row), baseUrl) };
}

export function payloadOfEvent(event: EventEnvelope, baseUrl: string): string {
  const text = JSON.stringify(event);
  if (Buffer.byteLength(text) <= payloadBytesMax) return text;
  const { id, identifier, url } = event.data;
  const thin = {
    id,
    ...(identifier === undefined ? {} : { identifier }),
    ...(url === undefined ? {} : { url }),
    truncated: true,
    event: `${baseUrl}/api/v1/events/${event.id}`,
  };
  return JSON.stringify({ ...event, data: thin });
}
