// The headers of requests, answers and deliveries, as components of the document.
import { writeModes } from '../call.ts';
import type { JsonObject } from './components.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };

/** Schemas that headers alone refer to. */
export const headerSchemas: Readonly<Record<string, JsonObject>> = {
  WriteMode: { type: 'string', enum: writeModes, description: 'Mode of a write.' },
};
const modeRef = { $ref: '#/components/schemas/WriteMode' };

const header = (description: string, schema: JsonObject): JsonObject => ({ description, schema });

export const headers: Readonly<Record<string, JsonObject>> = {
  'X-Request-Id': header('Identifies the request; equal to `error.requestId`.', {
    type: 'string',
    pattern: '^req_',
  }),
  'RateLimit-Limit': header('Requests allowed in the window.', count),
  'RateLimit-Remaining': header('Requests left in the window.', count),
  'RateLimit-Reset': header('Seconds until the window resets.', count),
  'Retry-After': header(
    'Seconds until the limit that was hit admits the request again; 1 for limits on concurrent work. On 429 only.',
    count,
  ),
  ETag: header('Version of the object, where it has one, and hash of the body.', text),
  'Accept-Ranges': header('Unit of ranges that `Range` takes.', { type: 'string', enum: ['bytes'] }),
  'Content-Range': header('Range of the file, and its length: `bytes 0-3/10`; `bytes */10` on 416.', text),
  Location: header('Where the object is.', { type: 'string', format: 'uri' }),
  'Tatami-Mode': header('Mode in which the write was done.', modeRef),
  'Idempotent-Replayed': header('`true` when this is the answer of an earlier identical request.', {
    type: 'string',
    enum: ['true'],
  }),
  'WWW-Authenticate': header('How to authenticate.', text),
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
    'Repeats of the same request with the same key, within 24 hours, return the first answer and have no second effect.',
    { type: 'string', minLength: 1, maxLength: 255 },
  ),
  TatamiMode: parameter(
    'Tatami-Mode',
    false,
    '`simulate` answers what the write would do and does nothing. `propose` stores the write as a proposal, which others approve.',
    { ...modeRef, default: 'commit' },
  ),
  IfMatch: parameter(
    'If-Match',
    false,
    'An ETag: the write fails with 412 when the object is at another version.',
    text,
  ),
  LastEventId: parameter(
    'Last-Event-ID',
    false,
    'The id of the last event that arrived: go on after it.',
    text,
  ),
  IfNoneMatch: parameter('If-None-Match', false, 'An ETag: answered 304 when nothing changed.', text),
  Range: parameter(
    'Range',
    false,
    'One range of the file, `bytes=0-1023`, answered 206. Several ranges are answered with the whole file.',
    text,
  ),
  IfRange: parameter(
    'If-Range',
    false,
    'An ETag: `Range` holds for this file alone; of another one the whole is answered.',
    text,
  ),
  Traceparent: parameter(
    'traceparent',
    false,
    'W3C trace context; carried into events, runs and deliveries.',
    text,
  ),
};

/** What every delivery of a webhook carries. */
export const deliveryParameters: Readonly<Record<string, JsonObject>> = {
  XWebhookSignature: parameter(
    'X-Webhook-Signature',
    true,
    '`v1=<hex HMAC-SHA-256>,t=<unix seconds>`: keyed by the whole secret, over `<t>.<body>`. Two `v1` while a secret is being rotated.',
    text,
  ),
  XWebhookEvent: parameter('X-Webhook-Event', true, 'The type of the event.', text),
  XWebhookDelivery: parameter('X-Webhook-Delivery', true, 'The delivery; the same in all its attempts.', {
    type: 'string',
    pattern: '^dlv_',
  }),
  WebhookId: parameter('webhook-id', true, 'The id of the event: handle each once (standardwebhooks.com).', {
    type: 'string',
    pattern: '^evt_',
  }),
  WebhookTimestamp: parameter('webhook-timestamp', true, 'Unix seconds of the attempt.', {
    type: 'string',
    pattern: '^[0-9]+$',
  }),
  WebhookSignature: parameter(
    'webhook-signature',
    true,
    '`v1,<base64 HMAC-SHA-256>`: keyed by the decoded secret, over `<webhook-id>.<webhook-timestamp>.<body>` (standardwebhooks.com).',
    text,
  ),
};
