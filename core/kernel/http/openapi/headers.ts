// Headers of requests, responses and deliveries, as components of the OpenAPI document.
import { writeModes } from '../call.ts';
import type { JsonObject } from './components.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };

/** Schemas that only headers refer to. */
export const headerSchemas: Readonly<Record<string, JsonObject>> = {
  WriteMode: { type: 'string', enum: writeModes, description: 'Mode of a write.' },
};
const modeRef = { $ref: '#/components/schemas/WriteMode' };

const header = (description: string, schema: JsonObject): JsonObject => ({ description, schema });

export const headers: Readonly<Record<string, JsonObject>> = {
  'X-Request-Id': header('Id of the request; equal to `error.requestId`.', {
    type: 'string',
    pattern: '^req_',
  }),
  'RateLimit-Limit': header('Requests allowed in the window.', count),
  'RateLimit-Remaining': header('Requests left in the window.', count),
  'RateLimit-Reset': header('Seconds until the window resets.', count),
  'Retry-After': header(
    'Seconds to wait before the request is sent again; 1 for limits on concurrent work. Sent only with 429.',
    count,
  ),
  ETag: header('Version of the object, if it has one, and hash of the body.', text),
  'Accept-Ranges': header('Range unit that `Range` accepts.', { type: 'string', enum: ['bytes'] }),
  'Content-Range': header('Range and length of the file, such as `bytes 0-3/10`; `bytes */10` on 416.', text),
  Location: header('URL of the object.', { type: 'string', format: 'uri' }),
  'Tatami-Mode': header('Mode in which the write was executed.', modeRef),
  'Idempotent-Replayed': header('`true` for the response to an earlier identical request.', {
    type: 'string',
    enum: ['true'],
  }),
  'WWW-Authenticate': header('Authentication challenge.', text),
};

const parameter = (name: string, required: boolean, description: string, schema: JsonObject): JsonObject => ({
  name,
  in: 'header',
  required,
  description,
  schema,
});

export const parameters: Readonly<Record<string, JsonObject>> = {
  IdempotencyKey: parameter(
    'Idempotency-Key',
    false,
    'Key for safe retries: for 24 hours, a repeat of the request with the same key returns the first response and has no second effect.',
    { type: 'string', minLength: 1, maxLength: 255 },
  ),
  TatamiMode: parameter(
    'Tatami-Mode',
    false,
    'Mode of the write. `simulate` returns the result without applying it. `propose` stores the write as a proposal that others approve.',
    { ...modeRef, default: 'commit' },
  ),
  IfMatch: parameter(
    'If-Match',
    false,
    'ETag of the object. The write fails with 412 if the object has another version.',
    text,
  ),
  LastEventId: parameter(
    'Last-Event-ID',
    false,
    'Id of the last event received. The stream continues after it.',
    text,
  ),
  IfNoneMatch: parameter(
    'If-None-Match',
    false,
    'ETag of an earlier response. Returns 304 if it is still current.',
    text,
  ),
  Range: parameter(
    'Range',
    false,
    'One range of the file, such as `bytes=0-1023`, returned with 206. A request for several ranges returns the whole file.',
    text,
  ),
  IfRange: parameter(
    'If-Range',
    false,
    'ETag of the file that `Range` refers to. If the ETag of the file differs, the whole file is returned.',
    text,
  ),
  Traceparent: parameter(
    'traceparent',
    false,
    'W3C trace context; propagated to events, runs and deliveries.',
    text,
  ),
};

/** Headers of every webhook delivery. */
export const deliveryParameters: Readonly<Record<string, JsonObject>> = {
  XWebhookSignature: parameter(
    'X-Webhook-Signature',
    true,
    '`v1=<hex HMAC-SHA-256>,t=<Unix seconds>`: keyed with the whole secret, over `<t>.<body>`. Two `v1` during a rotation.',
    text,
  ),
  XWebhookEvent: parameter('X-Webhook-Event', true, 'Type of the event.', text),
  XWebhookDelivery: parameter(
    'X-Webhook-Delivery',
    true,
    'Id of the delivery; the same in all its attempts.',
    {
      type: 'string',
      pattern: '^dlv_',
    },
  ),
  WebhookId: parameter('webhook-id', true, 'Id of the event, for deduplication (standardwebhooks.com).', {
    type: 'string',
    pattern: '^evt_',
  }),
  WebhookTimestamp: parameter('webhook-timestamp', true, 'Time of the attempt, Unix seconds.', {
    type: 'string',
    pattern: '^[0-9]+$',
  }),
  WebhookSignature: parameter(
    'webhook-signature',
    true,
    '`v1,<base64 HMAC-SHA-256>`: keyed with the decoded secret, over `<webhook-id>.<webhook-timestamp>.<body>` (standardwebhooks.com).',
    text,
  ),
};
