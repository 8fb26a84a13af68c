// The OpenAPI 3.1 document, generated from the route registry alone, so that it cannot say anything else than what is served.
// Spec › What the service does: the document is the authoritative catalogue of endpoints.
import { Type, type TSchema } from 'typebox';
import { errorCodes, fieldIssues, type ErrorCode } from '../../lib/errors.ts';
import { Closed, named } from '../../lib/schema.ts';
import type { Route } from '../route.ts';
import { createComponents, type JsonObject } from './components.ts';
import { describeOperation, tagOf } from './operation.ts';

const ErrorShown = named(
  'Error',
  Closed({
    error: Closed({
      code: Type.Enum(Object.keys(errorCodes) as ErrorCode[]),
      message: Type.String(),
      details: Type.Array(
        Closed({
          path: Type.String(),
          issue: Type.Enum([...fieldIssues]),
          fix: Type.Optional(Type.String({ description: 'What to do about it.' })),
        }),
      ),
      requestId: Type.String({ pattern: '^req_' }),
    }),
  }),
);

const header = (description: string, schema: JsonObject): JsonObject => ({ description, schema });
const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };

const headers: JsonObject = {
  'X-Request-Id': header('Identifies the request; equal to `error.requestId`.', {
    type: 'string',
    pattern: '^req_',
  }),
  'RateLimit-Limit': header('Requests allowed in the window.', count),
  'RateLimit-Remaining': header('Requests left in the window.', count),
  'RateLimit-Reset': header('Seconds until the window resets.', count),
  'Retry-After': header('Seconds to wait; on 429 only.', count),
  ETag: header('Version of the object and hash of the body.', text),
  Location: header('Where the new object is.', { type: 'string', format: 'uri' }),
  'Tatami-Mode': header('What became of the write.', { type: 'string', enum: ['commit', 'simulate'] }),
  'Idempotent-Replayed': header('`true` when this is the answer of an earlier identical request.', {
    type: 'string',
    enum: ['true'],
  }),
};

const parameter = (name: string, description: string, schema: JsonObject): JsonObject => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
});

const parameters: JsonObject = {
  IdempotencyKey: parameter(
    'Idempotency-Key',
    'Repeats of the same request with the same key, within 24 hours, return the first answer and have no second effect.',
    {
      type: 'string',
      minLength: 1,
      maxLength: 255,
    },
  ),
  TatamiMode: parameter('Tatami-Mode', '`simulate` answers what the write would do and does nothing.', {
    type: 'string',
    enum: ['commit', 'simulate'],
    default: 'commit',
  }),
  IfMatch: parameter(
    'If-Match',
    'An ETag: the write fails with 412 when the object is at another version.',
    text,
  ),
  IfNoneMatch: parameter('If-None-Match', 'An ETag: answered 304 when nothing changed.', text),
  Traceparent: parameter('traceparent', 'W3C trace context; carried into events, runs and deliveries.', text),
};

export interface DocumentOptions {
  readonly routes: readonly Route[];
  readonly version: string;
  readonly baseUrl: string;
  /** Each event type that is sent today, with the schema of its whole envelope. */
  readonly webhooks: readonly { readonly type: string; readonly envelope: TSchema }[];
}

export function buildDocument({ routes, version, baseUrl, webhooks }: DocumentOptions): JsonObject {
  const components = createComponents();
  components.ref(ErrorShown);
  const paths: Record<string, JsonObject> = {};
  for (const route of routes)
    (paths[route.path] ??= {})[route.method.toLowerCase()] = describeOperation(route, components);
  const hooks = Object.fromEntries(
    webhooks.map(({ type, envelope }) => [
      type,
      {
        post: {
          operationId: `webhook.${type}`,
          tags: ['webhooks'],
          security: [],
          summary: `The event ${type}`,
          description:
            'A signed delivery: verify `X-Webhook-Signature` (`v1=<hex HMAC-SHA-256 of "<t>.<body>">,t=<unix seconds>`), then answer 2xx.',
          parameters: [
            { name: 'X-Webhook-Signature', in: 'header', required: true, schema: { type: 'string' } },
            { name: 'X-Webhook-Event', in: 'header', required: true, schema: { type: 'string' } },
            {
              name: 'X-Webhook-Delivery',
              in: 'header',
              required: true,
              schema: { type: 'string', pattern: '^dlv_' },
            },
          ],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: components.ref(envelope) } },
          },
          responses: {
            '2XX': { description: 'Received.' },
            '4XX': { description: 'Refused; it is sent again later.' },
          },
        },
      },
    ]),
  );
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tatami',
      version,
      summary: 'A self-hostable issue tracker that hosts sandboxed plugins.',
      description: `Errors share one envelope. ${errorTable()}`,
      license: { name: 'Proprietary', url: `${baseUrl}/docs` },
    },
    servers: [{ url: baseUrl }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name, description: `Operations on ${name}.` })),
    paths,
    webhooks: hooks,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'ttm_<prefix>_<secret>',
          description: 'An API key.',
        },
      },
      headers,
      parameters,
      examples: Object.fromEntries(
        Object.keys(errorCodes).map((code) => [code, { value: exampleOf(code as ErrorCode) }]),
      ),
      schemas: components.schemas,
    },
  };
}

function exampleOf(code: ErrorCode): JsonObject {
  const details =
    code === 'validation_failed'
      ? [{ path: 'priority', issue: 'invalid_enum', fix: 'Use one of none, low, medium, high, urgent.' }]
      : [];
  return {
    error: { code, message: errorCodes[code].text, details, requestId: 'req_01m7x7qf6c000dv06y916acqbt' },
  };
}

function errorTable(): string {
  const rows = Object.entries(errorCodes).map(
    ([code, { status, retry, text: meaning }]) =>
      `| \`${code}\` | ${status} | ${retry ? 'yes' : 'no'} | ${meaning} |`,
  );
  return ['', '', '| Code | Status | Retry helps | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}
