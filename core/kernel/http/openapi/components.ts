// Components that the OpenAPI document defines once and refers to: named schemas, enums, responses, headers
// and examples.
import type { TSchema } from 'typebox';
import { namedSchema } from '../../../platform/lib/schema.ts';
import { capital } from '../../../platform/lib/text/words.ts';
import { writeModes } from '../call.ts';
import type { Route } from '../route.ts';
import recorded from './generated/examples.json' with { type: 'json' };

export type JsonObject = Record<string, unknown>;

/**
 * Side of a schema: `given` in requests, `shown` in responses. Requests are closed, because the server
 * rejects unknown fields. Responses are open, because a later version may add fields. Bounds of texts and
 * lists apply to requests only: deleted texts and redacted lists in responses violate them.
 */
type Side = 'given' | 'shown';

export interface Components {
  /**
   * Returns the schema as JSON Schema, with every named part replaced by a reference.
   * @throws Error if two schemas share a name
   */
  ref(schema: unknown, side: Side): unknown;
  /** Returns a reference to the schema of that name, which `make` creates on first use. */
  schema(name: string, make: () => JsonObject): JsonObject;
  /** Returns a reference to the response of that name, which `make` creates on first use. */
  response(name: string, make: () => JsonObject): JsonObject;
  readonly schemas: Readonly<Record<string, JsonObject>>;
  readonly responses: Readonly<Record<string, JsonObject>>;
}

export function createComponents(): Components {
  const schemas: Record<string, JsonObject> = {};
  const responses: Record<string, JsonObject> = {};
  /** Properties already described, by name, because most schemas are referenced many times. */
  const described = new Map<string, unknown>();

  const put = (name: string, schema: JsonObject): JsonObject => {
    if (name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(schema))
      throw new Error(`Two different schemas are named ${name}. Rename one of them.`);
    schemas[name] = schema;
    return refTo(name);
  };
  const plain = (value: unknown, side: Side): unknown => {
    if (Array.isArray(value)) return value.map((one) => plain(one, side));
    if (value === null || typeof value !== 'object') return value;
    const { 'x-name': name, 'x-doc': doc, 'x-enum': words, ...rest } = value as JsonObject;
    if (typeof words === 'string') return wordsRef(words, rest);
    if (
      typeof name === 'string' &&
      rest.properties !== undefined &&
      described.get(`${side} ${name}`) === rest.properties
    )
      return { ...refTo(name), ...docOf(doc) };
    const schema = standard(
      Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, plain(inner, side)])),
      side,
    );
    if (typeof name !== 'string') return schema;
    described.set(`${side} ${name}`, rest.properties);
    return { ...put(name, schema), ...docOf(doc) };
  };
  const wordsRef = (name: string, { enum: values, ...rest }: JsonObject): JsonObject => {
    const words = (values as readonly (string | null)[]).filter((word) => word !== null);
    const { description, ...others } = rest;
    const ref = put(name, { type: 'string', enum: words });
    const said = { ...(description === undefined ? {} : { description }), ...others };
    const isNullable = words.length < (values as readonly unknown[]).length;
    return isNullable ? { anyOf: [ref, { type: 'null' }], ...said } : { ...ref, ...said };
  };
  return {
    ref: plain,
    schema(name, make) {
      if (!(name in schemas)) put(name, make());
      return refTo(name);
    },
    response(name, make) {
      responses[name] ??= make();
      return { $ref: `#/components/responses/${name}` };
    },
    schemas,
    responses,
  };
}

function refTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Returns the description of a reference, which is specific to its place. */
function docOf(doc: unknown): JsonObject {
  return doc === undefined ? {} : { description: doc };
}

/**
 * Converts to the form that tools expect: enums have a type, and maps describe their values in
 * `additionalProperties`.
 */
function standard(schema: JsonObject, side: Side): JsonObject {
  const { additionalProperties, patternProperties, ...rest } = side === 'shown' ? unbounded(schema) : schema;
  if (isEmpty(schema)) return { ...rest, additionalProperties: true };
  if (Array.isArray(rest.enum) && rest.type === undefined) return { type: typeOf(rest.enum), ...rest };
  if (isMap(patternProperties)) {
    const [[pattern, values] = ['', {}]] = Object.entries(patternProperties);
    const names = pattern === '^.*$' ? {} : { propertyNames: { pattern } };
    return { ...rest, ...names, additionalProperties: Object.keys(values).length === 0 ? true : values };
  }
  if (additionalProperties === undefined || (additionalProperties === false && side === 'shown')) return rest;
  return { ...rest, additionalProperties };
}

function unbounded(schema: JsonObject): JsonObject {
  // A schema without a type is a map of properties, whose names may equal those of bounds.
  if (typeof schema.type !== 'string' && !Array.isArray(schema.type)) return schema;
  const isBound = ([key, value]: [string, unknown]): boolean =>
    bounds.has(key) || (key === 'pattern' && value === '\\S');
  return Object.fromEntries(Object.entries(schema).filter((entry) => !isBound(entry)));
}

const bounds: ReadonlySet<string> = new Set(
  'minLength maxLength minItems maxItems uniqueItems minProperties maxProperties'.split(' '),
);

/** True for an object schema without constraints, which allows any content. */
function isEmpty({ type, properties, additionalProperties }: JsonObject): boolean {
  const names = properties !== null && typeof properties === 'object' ? Object.keys(properties) : null;
  return type === 'object' && additionalProperties === undefined && names?.length === 0;
}

/** True for a map that is described by one pattern. */
function isMap(patterns: unknown): patterns is Record<string, JsonObject> {
  return patterns !== null && typeof patterns === 'object' && Object.keys(patterns).length === 1;
}

function typeOf(values: readonly unknown[]): string | string[] {
  return values.includes(null) ? ['string', 'null'] : 'string';
}

/** `issue.state_changed` → `IssueStateChanged` */
export function nameOf(words: string): string {
  return words
    .split(/[^a-zA-Z0-9]+/)
    .map(capital)
    .join('');
}

/** Names a body after its operation if it has no name, because every body in the document needs one. */
export function bodyNameOf(route: Route, schema: TSchema, suffix: 'Body' | 'Answer'): TSchema {
  return 'x-name' in schema ? schema : namedSchema(`${nameOf(route.name)}${suffix}`, { ...schema });
}

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

/**
 * Examples of responses and events, recorded from a server on which every operation was called once
 * (`UPDATE_DOCS=1 bun test test/api/openapi.test.ts`).
 */
const examples: Readonly<Record<string, unknown>> = recorded;

/**
 * Returns the example in the schema, which operations that cannot be recorded have; otherwise the recorded
 * response.
 */
export function exampleOf(operation: string, schema: TSchema): JsonObject {
  const { examples: [own] = [] } = schema as { examples?: readonly unknown[] };
  return own === undefined ? exampleByName(operation) : { example: own };
}

/** Returns the example as a member of a media type; empty if nothing is recorded under the name. */
export function exampleByName(name: string): JsonObject {
  return name in examples ? { example: examples[name] } : {};
}
