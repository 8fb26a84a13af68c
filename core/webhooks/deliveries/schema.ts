// Deliveries and their attempts, in their public shape.
import { idPrefixes } from '../../lib/ids.ts';
import { Type, type TSchema } from 'typebox';
import { Closed, idOf, named, nullable, time } from '../../lib/schema.ts';
import { webhook } from '../endpoints/contract.ts';

export const deliveryStatuses = [
  'pending',
  'delivering',
  'retrying',
  'delivered',
  'failed',
  'canceled',
] as const;

export const deliveryOrigins = ['event', 'replay', 'ping', 'sample'] as const;

const shown = {
  id: idOf(idPrefixes.delivery),
  webhookId: idOf(webhook.id),
  eventId: idOf(idPrefixes.event),
  eventType: Type.String(),
  origin: Type.Enum([...deliveryOrigins], {
    description:
      'Why it was made: an event, a replay of one, a ping, or a sample, whose event never happened.',
  }),
  status: Type.Enum([...deliveryStatuses]),
  attempts: Type.Integer(),
  createdAt: time,
  firstAttemptAt: nullable(time),
  nextAttemptAt: nullable(time),
  finishedAt: nullable(time),
};
const headers = <V extends TSchema>(value: V) => Type.Record(Type.String(), value);

export const DeliveryShown = named('Delivery', Closed(shown));
export const DeliveryDetail = named(
  'DeliveryDetail',
  Closed({
    ...shown,
    payload: Type.String({ description: 'The exact bytes sent.' }),
    attemptList: Type.Array(
      Closed({
        number: Type.Integer(),
        at: time,
        latencyMs: Type.Number(),
        statusCode: nullable(Type.Integer()),
        error: nullable(Type.String({ description: 'What went wrong, in words.' })),
        requestHeaders: headers(Type.String()),
        responseHeaders: nullable(headers(Type.Unknown())),
        responseBody: nullable(Type.String({ description: 'What came back, up to 64 KiB.' })),
        responseBodyEncoding: nullable(
          Type.Enum(['utf8', 'base64'], { description: '`base64` where the body is not UTF-8.' }),
        ),
        truncated: Type.Boolean(),
      }),
    ),
  }),
);
