// The OpenAPI 3.1 document, generated from the route registry alone, so that it cannot say anything else than what is served.
// It is the authoritative catalogue of operations: docs/spec/api.md › The document.
import { Type } from 'typebox';
import { errorCodes, fieldIssues, type ErrorCode } from '../../lib/errors.ts';
import { Closed, named } from '../../lib/schema.ts';
import type { Route } from '../route.ts';
import { createComponents, type JsonObject } from './components.ts';
import { deliveryParameters, headers, parameters } from './headers.ts';
import { describeOperation, tagOf } from './operation.ts';
import { describeWebhooks, type SentEvent } from './webhooks.ts';

const codes = Object.keys(errorCodes) as ErrorCode[];

const ErrorShown = named(
  'Error',
  Closed(
    {
      error: Closed({
        code: Type.Enum(codes),
        message: Type.String(),
        details: Type.Array(
          Closed({
            path: Type.String(),
            issue: Type.Enum([...fieldIssues]),
            fix: Type.Optional(Type.String({ description: 'What to do about it.' })),
            value: Type.Optional(Type.String({ description: 'What to give in its place.' })),
          }),
        ),
        requestId: Type.String({ pattern: '^req_' }),
      }),
    },
    { 'x-error-codes': errorCodes },
  ),
);

export interface DocumentOptions {
  readonly routes: readonly Route[];
  readonly version: string;
  readonly baseUrl: string;
  readonly webhooks: readonly SentEvent[];
}

/** @throws Error when the routes contradict each other */
export function buildDocument({ routes, version, baseUrl, webhooks }: DocumentOptions): JsonObject {
  const components = createComponents();
  components.ref(ErrorShown);
  const paths: Record<string, JsonObject> = {};
  for (const route of routes)
    (paths[route.path] ??= {})[route.method.toLowerCase()] = describeOperation(route, components);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tatami',
      version,
      summary: 'A self-hostable issue tracker that hosts sandboxed plugins.',
      description: `Errors share one envelope.${errorTable()}`,
      license: { name: 'Proprietary', url: `${baseUrl}/docs` },
    },
    servers: [{ url: baseUrl }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name, description: `Operations on ${name}.` })),
    paths,
    webhooks: describeWebhooks(webhooks, components),
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
      parameters: { ...parameters, ...deliveryParameters },
      examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      responses: components.responses,
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
    ([code, { status, retry, text }]) => `| \`${code}\` | ${status} | ${retry ? 'yes' : 'no'} | ${text} |`,
  );
  return ['', '', '| Code | Status | Retry helps | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}
