// One route as an OpenAPI operation: parameters, body, every answer it can give with its headers and error codes.
import type { TObject } from 'typebox';
import { errorCodes, type ErrorCode } from '../../lib/errors.ts';
import type { Route } from '../route.ts';
import type { Components, JsonObject } from './components.ts';

const always = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

export function describeOperation(route: Route, components: Components): JsonObject {
  const write = route.write !== undefined;
  const { body, description } = route;
  return {
    operationId: route.name,
    tags: [tagOf(route)],
    summary: route.summary,
    ...(description === undefined ? {} : { description }),
    security: route.scope === null ? [] : [{ bearer: [] }],
    ...(route.scope === null ? {} : { 'x-required-scope': route.scope }),
    'x-rate-limit-class': route.limit,
    parameters: [
      ...objectParameters('path', route.params, components),
      ...objectParameters('query', route.query, components),
      ...(write
        ? ['IdempotencyKey', 'TatamiMode', 'IfMatch', 'Traceparent']
        : route.read
          ? ['IfNoneMatch']
          : []
      ).map((name) => ({
        $ref: `#/components/parameters/${name}`,
      })),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: components.ref(body),
                ...(route.example === undefined ? {} : { example: route.example }),
              },
            },
          },
        }),
    responses: { ...successes(route, components), ...failures(route) },
  };
}

export function tagOf(route: Route): string {
  return route.name.slice(0, route.name.indexOf('.'));
}

function objectParameters(
  place: 'path' | 'query',
  schema: TObject | undefined,
  components: Components,
): JsonObject[] {
  const required = new Set(schema?.required);
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = property as JsonObject;
    return {
      name,
      in: place,
      required: place === 'path' || required.has(name),
      ...(description === undefined ? {} : { description }),
      schema: components.ref(rest),
    };
  });
}

function successes(route: Route, components: Components): JsonObject {
  const write = route.write !== undefined;
  const answers = Object.entries(route.responses).map(([status, schema]) => {
    const headers = [
      ...always,
      ...(write ? ['Tatami-Mode', 'Idempotent-Replayed'] : []),
      ...(schema && !route.raw ? ['ETag'] : []),
      ...(status === '201' || status === '202' ? ['Location'] : []),
    ];
    const content = schema
      ? { content: { [route.contentType ?? 'application/json']: { schema: components.ref(schema) } } }
      : {};
    return [
      status,
      { description: successText[status] ?? 'Done.', headers: headerRefs(headers), ...content },
    ];
  });
  const unchanged = route.read
    ? [
        [
          '304',
          {
            description: 'Not changed since the ETag in If-None-Match.',
            headers: headerRefs([...always, 'ETag']),
          },
        ],
      ]
    : [];
  return Object.fromEntries([...answers, ...unchanged]);
}

const successText: Readonly<Record<string, string>> = {
  200: 'The object or page.',
  201: 'Made.',
  202: 'Queued.',
  204: 'Done; there is nothing to show.',
};

/** Every error a route can answer with, from what it takes and does. */
export function errorsOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>([
    'validation_failed',
    'rate_limited',
    'internal_error',
    'unavailable',
    ...(route.errors ?? []),
  ]);
  if (route.scope !== null) codes.add('unauthorized').add('insufficient_scope');
  if (route.params) codes.add('not_found').add('malformed_request');
  if (route.body) codes.add('malformed_request').add('payload_too_large').add('unsupported_media_type');
  if (route.query && 'after' in route.query.properties) codes.add('invalid_cursor');
  if (route.write)
    for (const code of [
      'conflict',
      'idempotency_in_progress',
      'idempotency_key_reused',
      'precondition_failed',
      'storage_full',
    ] as const)
      codes.add(code);
  return [...codes];
}

function failures(route: Route): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route)) {
    const { status } = errorCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const answers = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${errorCodes[code].text}`).join('\n\n'),
        headers: headerRefs(status === 429 ? [...always, 'Retry-After'] : always),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: Object.fromEntries(
              codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
            ),
          },
        },
      },
    ]);
  return Object.fromEntries(answers);
}

function headerRefs(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
