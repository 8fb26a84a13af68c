// Deliveries and their attempts, in their public shape.
import { idPrefixes } from '../../lib/ids.ts';
import { Type, type TSchema } from 'typebox';
import { Closed, described, enumeration, idOf, named, nullable, time } from '../../lib/schema.ts';
import { webhook } from '../endpoints/contract.ts';

const deliveryStatuses = ['pending', 'delivering', 'retrying', 'delivered', 'failed', 'canceled'] as const;

const deliveryOrigins = ['event', 'replay', 'ping', 'sample'] as const;

export const deliveryOrigin = enumeration(
  'DeliveryOrigin',
  deliveryOrigins,
  'Why it was made: an event, a replay of one, a ping, or a sample, whose event never happened.',
);
export const deliveryStatus = enumeration(
  'DeliveryStatus',
  deliveryStatuses,
  'How far it has come: `failed` and `canceled` are not tried again.',
);

const at = (doc: string) => nullable(described(time, doc));
const headers = <V extends TSchema>(value: V, description: string) =>
  Type.Record(Type.String(), value, { description });

const shown = {
  id: idOf(idPrefixes.delivery),
  webhookId: idOf(webhook.id, 'The endpoint that it goes to.'),
  eventId: idOf(idPrefixes.event, 'The event that it tells of.'),
  eventType: Type.String({ description: 'The type of that event.' }),
  origin: deliveryOrigin,
  status: deliveryStatus,
  attempts: Type.Integer({ description: 'Attempts made.' }),
  createdAt: described(time, 'When it was made.'),
  firstAttemptAt: at('When it was tried first.'),
  nextAttemptAt: at('When it will be tried again; null where it will not.'),
  finishedAt: at('When it was delivered, given up or canceled.'),
};

export const DeliveryShown = named('Delivery', Closed(shown));
export const DeliveryDetail = named(
  'DeliveryDetail',
  Closed({
    ...shown,
    payload: Type.String({ description: 'The exact bytes sent.' }),
    attemptList: Type.Array(
      Closed({
        number: Type.Integer({ description: 'Counts the attempts, from 1.' }),
        at: described(time, 'When it began.'),
        latencyMs: Type.Number({ description: 'How long the receiver took, in milliseconds.' }),
        statusCode: nullable(Type.Integer({ description: 'What it answered; null where it did not.' })),
        error: nullable(Type.String({ description: 'What went wrong, in words.' })),
        requestHeaders: headers(Type.String(), 'What was sent ahead of the payload.'),
        responseHeaders: nullable(headers(Type.Unknown(), 'What came back ahead of the body.')),
        responseBody: nullable(Type.String({ description: 'What came back, up to 64 KiB.' })),
        responseBodyEncoding: nullable(
          enumeration('BodyEncoding', ['utf8', 'base64'], '`base64` where the body is not UTF-8.'),
        ),
        truncated: Type.Boolean({ description: 'Whether more came back than was kept.' }),
      }),
      { description: 'Each attempt, the first one first.' },
    ),
  }),
);
