// Generates the OpenAPI 3.1 document from the route registry alone, so that it cannot deviate from the
// server. The document is the authoritative catalogue of operations: docs/spec/api.md › OpenAPI document.
import { type TSchema, Type } from 'typebox';
import { type ErrorCode, errorCodes, fieldIssues } from '../../../platform/lib/errors/errors.ts';
import { Closed, enumeration, namedSchema } from '../../../platform/lib/schema.ts';
import { allScopes } from '../../rights/table.ts';
import type { Route } from '../route.ts';
import {
  type Components,
  createComponents,
  deliveryParameters,
  exampleByName,
  headers,
  headerSchemas,
  type JsonObject,
  nameOf,
  parameters,
} from './components.ts';
import { describeOperation, isOperation, tagOf } from './operation.ts';

/** Group of operations with the same prefix in their names. */
export interface Tag {
  readonly name: string;
  /** Display name, such as `API keys`. */
  readonly title: string;
  /** Description in sentences. */
  readonly doc: string;
}

export interface TagGroup {
  readonly name: string;
  readonly tags: readonly Tag[];
}

export interface DocumentFacts {
  readonly version: string;
  readonly baseUrl: string;
  readonly webhooks: readonly SentEvent[];
  readonly tagGroups: readonly TagGroup[];
  /** Schema of the response to `Tatami-Mode: propose`. */
  readonly proposal: TSchema;
}

interface DocumentOptions extends DocumentFacts {
  readonly routes: readonly Route[];
}

/** @throws Error if the routes contradict each other, or a tag has no description */
export function buildDocument(options: DocumentOptions): JsonObject {
  const { version, baseUrl, webhooks } = options;
  const components = createComponents();
  components.ref(ErrorResponse, 'shown');
  const routes = options.routes.filter(isOperation);
  const paths: Record<string, JsonObject> = {};
  for (const route of routes)
    (paths[route.path] ??= {})[route.method.toLowerCase()] = describeOperation(
      route,
      components,
      options.proposal,
    );
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tatami',
      version,
      summary: 'A self-hostable issue tracker that hosts sandboxed plugins.',
      description: introduction(baseUrl),
      contact: { name: 'Administrator of this server', url: baseUrl },
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: baseUrl, description: 'This server.' }],
    ...describeTags(routes, options.tagGroups),
    paths,
    webhooks: describeWebhooks(webhooks, components),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'ttm_<prefix>_<secret>',
          description: 'An API key, limited to its scopes. Each operation names the scope that it needs.',
          'x-scopes': allScopes,
        },
      },
      headers,
      parameters: { ...parameters, ...deliveryParameters },
      examples: examplesOf(components.responses),
      responses: components.responses,
      schemas: { ...components.schemas, ...headerSchemas },
    },
  };
}

/** Examples of the errors that at least one operation returns. */
function examplesOf(responses: Components['responses']): JsonObject {
  const codes = Object.values(responses).flatMap((response) => response['x-error-codes'] ?? []);
  return Object.fromEntries(Object.entries(errorExamples).filter(([code]) => codes.includes(code)));
}

function describeTags(routes: readonly Route[], groups: readonly TagGroup[]): JsonObject {
  const used = new Set(routes.map(tagOf));
  const usedOf = ({ tags }: TagGroup): Tag[] => tags.filter(({ name }) => used.has(name));
  const known = groups.flatMap(usedOf);
  const unknown = [...used].filter((name) => !known.some((tag) => tag.name === name));
  if (unknown.length > 0) throw new Error(`Describe the tags ${unknown.join(', ')} in core/app/features.ts.`);
  return {
    tags: known.map(({ name, title, doc }) => ({ name, description: doc, 'x-displayName': title })),
    'x-tagGroups': groups
      .filter((group) => usedOf(group).length > 0)
      .map((group) => ({ name: group.name, tags: usedOf(group).map(({ name }) => name) })),
  };
}

/** Returns the introduction of the document. Details belong to the guides that it links to. */
function introduction(baseUrl: string): string {
  const guide = (name: string, words: string): string => `[${words}](${baseUrl}/docs/guides/${name})`;
  return `The REST API of Tatami: JSON over HTTP, under \`${baseUrl}/api/v1\`. Unknown parameters and fields are rejected by name.

## Authentication

Send \`Authorization: Bearer <key>\`. A key belongs to a member of one workspace, cannot access other workspaces, and has scopes such as
\`issues:write\`, which implies \`issues:read\`. Each operation names the scope that it needs. ${guide('authentication', 'More on keys')}.

## Lists

Lists return \`{ data, pageInfo: { hasNextPage, endCursor } }\`. While \`hasNextPage\` is true, request the next page with \`after\` set to
\`endCursor\`. Filters are query parameters, or one JSON tree in \`filter\`; webhooks and plugins use the same filters.
${guide('paging', 'More on paging')}, ${guide('filters', 'more on filters')}.

## Writes

A write with an \`Idempotency-Key\` is safe to retry: for 24 hours a repeat returns the first response and has no second effect.
\`Tatami-Mode: simulate\` returns the result of a write without applying it. Objects have a \`version\`, with which their \`ETag\` begins:
a write with \`If-Match\` fails with 412 if the object has changed. ${guide('idempotency', 'More on idempotency')}.

## Rate limits

By default a key may send 600 reads and 240 writes per minute to each operation; the administrator can change these limits. Every response
reports the limit in \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`; a 429 has the seconds to wait in
\`Retry-After\`.
${guide('rate-limits', 'More on rate limits')}.

## Versions

Changes within \`v1\` are additive: accept unknown fields and event types. ${guide('versioning', 'More on versions')}.

## Errors

All errors have the same shape, \`{ error: { code, message, details, requestId } }\`. Branch on \`code\`, which is stable; \`details\` lists
the invalid fields and how to fix each one. ${guide('errors', 'More on errors')}.

${errorTable(baseUrl)}`;
}

function errorTable(baseUrl: string): string {
  const rows = Object.entries(errorCodes).map(
    ([code, { status, retry, text }]) =>
      `| [\`${code}\`](${baseUrl}/docs/errors/${code}) | ${status} | ${retry ? 'yes' : 'no'} | ${text} |`,
  );
  return ['| Code | Status | Retry helps | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}

const codes = Object.keys(errorCodes) as ErrorCode[];

const Detail = namedSchema(
  'ErrorDetail',
  Closed(
    {
      path: Type.String({
        description: 'Path of the field or parameter, such as `labels.0`; empty for the body itself.',
      }),
      issue: enumeration('FieldIssue', fieldIssues, 'Machine-readable reason.'),
      fix: Type.Optional(Type.String({ description: 'Instruction to correct the field.' })),
      value: Type.Optional(Type.String({ description: 'Suggested value.' })),
    },
    { description: 'Error in one field.' },
  ),
);

const ErrorResponse = namedSchema(
  'Error',
  Closed(
    {
      error: Closed(
        {
          code: enumeration('ErrorCode', codes, 'Machine-readable code of the error; stable.'),
          message: Type.String({ description: 'Human-readable message; may change.' }),
          details: Type.Array(Detail, {
            description: 'Invalid fields; empty if the error is not about fields.',
          }),
          requestId: Type.String({
            pattern: '^req_',
            description: 'Id of the request; equal to `X-Request-Id`.',
          }),
        },
        { description: 'The error.' },
      ),
    },
    { description: 'Response to a rejected or failed request.', 'x-error-codes': errorCodes },
  ),
);

/** Example messages for codes whose default text is rarely what callers read. */
const said: Readonly<Partial<Record<ErrorCode, { message: string; details?: readonly JsonObject[] }>>> = {
  insufficient_scope: {
    message:
      'This operation needs the scope issues:write, which the token does not have. Use a token with the scope, or ask an admin to grant it.',
  },
  validation_failed: {
    message: 'priority: Use one of none, low, medium, high, urgent.',
    details: [
      { path: 'priority', issue: 'invalid_enum', fix: 'Use one of none, low, medium, high, urgent.' },
    ],
  },
  method_not_allowed: { message: 'Use one of GET, HEAD, POST, OPTIONS for this path.' },
};

/** Realistic error envelopes by code. */
const errorExamples: JsonObject = Object.fromEntries(
  codes.map((code) => {
    const { message = errorCodes[code].text, details = [] } = said[code] ?? {};
    const requestId = 'req_01m7x7qf6c000dv06y916acqbt';
    return [
      code,
      { summary: errorCodes[code].text, value: { error: { code, message, details, requestId } } },
    ];
  }),
);

export interface SentEvent {
  readonly type: string;
  readonly envelope: TSchema;
}

const Truncated = namedSchema(
  'TruncatedData',
  Closed(
    {
      id: Type.String({ description: 'Id of the changed object.' }),
      identifier: Type.Optional(
        Type.String({ description: 'Identifier of the issue, such as `ENG-42`; issues only.' }),
      ),
      url: Type.Optional(Type.String({ format: 'uri', description: 'URL of the issue page; issues only.' })),
      truncated: Type.Literal(true, { description: 'True for truncated data.' }),
      event: Type.String({ format: 'uri', description: 'URL of the complete event.' }),
    },
    { description: 'Replacement for the object if the delivery would be larger than 256 KiB.' },
  ),
);

const description =
  'A signed delivery. Verify `X-Webhook-Signature` against the bytes of the body, then respond with 2xx within 15 seconds.';

/** Describes each event type as the request that a receiver gets. */
function describeWebhooks(events: readonly SentEvent[], components: Components): Record<string, JsonObject> {
  return Object.fromEntries(
    events.map((event) => [
      event.type,
      {
        post: {
          operationId: `webhook.${event.type}`,
          tags: ['webhooks'],
          security: [],
          summary: `Receive ${event.type} events`,
          description,
          parameters: [...Object.keys(deliveryParameters), 'Traceparent'].map((name) => ({
            $ref: `#/components/parameters/${name}`,
          })),
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: deliveredEvent(event, components),
                ...exampleByName(`webhook.${event.type}`),
              },
            },
          },
          responses: {
            '2XX': { description: 'Received.' },
            '410': { description: 'Receiver gone: Tatami disables the endpoint.' },
            default: { description: 'Failure: Tatami retries the delivery.' },
          },
        },
      },
    ]),
  );
}

/**
 * Properties that all events share are in one base schema, so that each event adds only its type and data.
 */
function deliveredEvent({ type, envelope }: SentEvent, components: Components): JsonObject {
  const { properties } = deliveredAs(envelope) as { properties: Record<string, TSchema> };
  const { type: ownType, data, ...shared } = properties;
  const base = components.schema('EventEnvelope', () => ({
    ...(components.ref(Closed(shared), 'shown') as JsonObject),
    description: 'Properties that all events share.',
  }));
  const own = Closed({ type: ownType!, data: data! });
  return components.schema(`${nameOf(type)}Event`, () => ({
    description: `The event \`${type}\`.`,
    allOf: [base, components.ref(own, 'shown')],
  }));
}

/** Returns the envelope with complete or truncated `data`. */
export function deliveredAs(envelope: TSchema): TSchema {
  const { properties } = envelope as { properties: Record<string, TSchema> };
  const data = Type.Union([properties.data!, Truncated], {
    description: 'Object at the time of the event. For a change, `previous` has the earlier values.',
  });
  return Closed({ ...properties, data });
}
