// Public schemas of deliveries and attempts.
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Type, type TSchema } from 'typebox';
import {
  Closed,
  described,
  enumeration,
  idOf,
  namedSchema,
  nullable,
  time,
} from '../../../platform/lib/schema.ts';
import { webhook } from '../endpoints/contract.ts';

const deliveryStatuses = ['pending', 'delivering', 'retrying', 'delivered', 'failed', 'canceled'] as const;

const deliveryOrigins = ['event', 'replay', 'ping', 'sample'] as const;

export const deliveryOrigin = enumeration(
  'DeliveryOrigin',
  deliveryOrigins,
  'Origin of the delivery: an event, a replay, a ping, or a sample of an event that never happened.',
);
export const deliveryStatus = enumeration(
  'DeliveryStatus',
  deliveryStatuses,
  'Status of the delivery; `failed` and `canceled` deliveries are not retried.',
);

const at = (doc: string) => nullable(described(time, doc));
const headers = <V extends TSchema>(value: V, description: string) =>
  Type.Record(Type.String(), value, { description });

const deliveryFields = {
  id: idOf(idPrefixes.delivery),
  webhookId: idOf(webhook.id, 'Id of the endpoint.'),
  eventId: idOf(idPrefixes.event, 'Id of the event.'),
  eventType: Type.String({ description: 'Type of the event.' }),
  origin: deliveryOrigin,
  status: deliveryStatus,
  attempts: Type.Integer({ description: 'Number of attempts made.' }),
  createdAt: described(time, 'Time of creation.'),
  firstAttemptAt: at('Time of the first attempt; null until then.'),
  nextAttemptAt: at('Time of the next attempt; null if none is planned.'),
  finishedAt: at('Time at which the delivery succeeded, failed or was canceled; null until then.'),
  pageUrl: Type.String({ format: 'uri', description: 'URL of the page of the delivery.' }),
};

export const DeliveryResponse = namedSchema('Delivery', Closed(deliveryFields));
export const DeliveryDetail = namedSchema(
  'DeliveryDetail',
  Closed({
    ...deliveryFields,
    payload: Type.String({ description: 'Request body, byte for byte.' }),
    attemptList: Type.Array(
      Closed({
        number: Type.Integer({ description: 'Number of the attempt, from 1.' }),
        at: described(time, 'Time at which the attempt started.'),
        latencyMs: Type.Number({ description: 'Response time of the receiver, in milliseconds.' }),
        statusCode: nullable(
          Type.Integer({ description: 'HTTP status of the response; null if there was none.' }),
        ),
        error: nullable(Type.String({ description: 'Reason for the failure; null on success.' })),
        requestHeaders: headers(Type.String(), 'HTTP headers of the request.'),
        responseHeaders: nullable(
          headers(Type.Unknown(), 'HTTP headers of the response; null if there was none.'),
        ),
        responseBody: nullable(
          Type.String({ description: 'Response body, up to 64 KiB; null if there was no response.' }),
        ),
        responseBodyEncoding: nullable(
          enumeration(
            'BodyEncoding',
            ['utf8', 'base64'],
            'Encoding of `responseBody`: `base64` if the body is not UTF-8.',
          ),
        ),
        truncated: Type.Boolean({
          description: 'True if the response body was longer than the stored part.',
        }),
      }),
      { description: 'Attempts, oldest first.' },
    ),
  }),
);
