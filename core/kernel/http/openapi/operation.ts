// Describes a route as an OpenAPI operation: parameters, body, and every response with its headers and error codes.
import { sensitiveOperations } from '../../rights/effects.ts';
import type { TObject, TSchema } from 'typebox';
import { errorCodes, type ErrorCode } from '../../../platform/lib/errors/errors.ts';
import { whyNotProposed } from '../limits/admission.ts';
import { hasVersion, makes, needsCaller, takesIfMatch, writesRows, type Route } from '../route.ts';
import {
  bodyNameOf,
  nameOf,
  type Components,
  type JsonObject,
  exampleByName,
  exampleOf,
} from './components.ts';

const always = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** @param proposal schema of the response to a write that is stored for approval */
export function describeOperation(route: Route, components: Components, proposal: TSchema): JsonObject {
  const { scope, description, body } = route;
  const also = route.also === undefined ? '' : ` and ${route.also.words}`;
  const needs = scope === null ? openTo(route) : `Requires the scope \`${scope}\`${also}.`;
  return {
    operationId: route.name,
    tags: [tagOf(route)],
    summary: route.summary,
    description: [description, needs].filter((sentence) => sentence !== undefined).join(' '),
    // Scopes are in `x-required-scope`, because linters accept scopes here only for OAuth.
    security: needsCaller(route) ? [{ bearer: [] }] : [],
    ...(scope === null ? {} : { 'x-required-scope': scope }),
    'x-rate-limit-class': route.limit,
    parameters: [
      ...objectParameters('path', route.params, components),
      ...objectParameters('query', route.query, components),
      ...headerParameters(route).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(route.kind === 'upload' ? { requestBody: fileBody } : {}),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: components.ref(bodyNameOf(route, body, 'Body'), 'given'),
                example: route.example,
              },
            },
          },
        }),
    responses: {
      ...successes(route, components),
      ...proposed(route, components, proposal),
      ...failures(route, components),
    },
  };
}

const fileBody = {
  required: true,
  description: 'Content of the file.',
  content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
};

function openTo(route: Route): string {
  return needsCaller(route) ? 'Requires authentication, but no scope.' : 'Public.';
}

export function tagOf(route: Route): string {
  return route.name.slice(0, route.name.indexOf('.'));
}

/** False for pages, their assets and the requests of their scripts: an operation returns JSON, a file, or a stream of events. */
export function isOperation({ contentType = 'application/json', ofPages = false }: Route): boolean {
  return (
    !ofPages && ['application/json', 'application/octet-stream', 'text/event-stream'].includes(contentType)
  );
}

function objectParameters(
  location: 'path' | 'query',
  schema: TObject | undefined,
  components: Components,
): JsonObject[] {
  const required = new Set(schema?.required);
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = property as JsonObject;
    return {
      name,
      in: location,
      required: location === 'path' || required.has(name),
      ...(description === undefined ? {} : { description }),
      schema: components.ref(rest, 'given'),
    };
  });
}

function headerParameters(route: Route): string[] {
  switch (route.kind) {
    case 'read':
      return ['IfNoneMatch'];
    case 'write':
    case 'upload':
      return ['IdempotencyKey', 'TatamiMode', ...(takesIfMatch(route) ? ['IfMatch'] : []), 'Traceparent'];
    case 'stream':
      return ['LastEventId'];
    case 'file':
      return ['IfNoneMatch', 'Range', 'IfRange'];
    case 'inbound':
      return [];
    case 'raw':
      return route.cached ? ['IfNoneMatch'] : [];
  }
}

/** True for a response that is one object; false for lists, which have neither a version nor a URL. */
function isObject(schema: TSchema | null): boolean {
  return schema !== null && !isList(schema);
}

function isList(schema: TSchema): boolean {
  return 'data' in ((schema as Partial<TObject>).properties ?? {});
}

function successes(route: Route, components: Components): JsonObject {
  const answers = Object.entries(route.responses).map(([status, schema]) => [
    status,
    {
      description: successText(status, schema),
      headers: headerRefs([...always, ...successHeaders(route, status, schema)]),
      ...(schema ? { content: contentOf(route, schema, components) } : {}),
    },
  ]);
  const unchanged = (): JsonObject => ({
    description: 'Not modified since the ETag in If-None-Match.',
    headers: headerRefs([...always, 'ETag']),
  });
  return {
    ...Object.fromEntries(answers),
    ...(route.kind === 'read' || route.kind === 'file' || route.cached
      ? { 304: components.response('NotModified', unchanged) }
      : {}),
  };
}

/**
 * Describes the 202 response to a write with `Tatami-Mode: propose`, combined with the 202 response that some
 * operations have without it.
 */
function proposed(route: Route, components: Components, proposal: TSchema): JsonObject {
  if (route.kind !== 'write' || whyNotProposed(route) !== null) return {};
  const ref = components.ref(proposal, 'shown');
  const headers = headerRefs([...always, 'Tatami-Mode', 'Idempotent-Replayed', 'ETag', 'Location']);
  const own = route.responses[202];
  if (own == null) {
    const content = jsonOf({ schema: ref, ...exampleByName('proposals.get') });
    const description = 'Stored as a proposal, with `Tatami-Mode: propose`.';
    return { 202: components.response('Proposed', () => ({ description, headers, content })) };
  }
  const { 'x-name': name } = bodyNameOf(route, own, 'Answer') as TSchema & { 'x-name': string };
  const schema = components.schema(`${name}OrProposal`, () => ({
    anyOf: [components.ref(own, 'shown'), ref],
  }));
  const description = 'Queued; with `Tatami-Mode: propose`, stored as a proposal.';
  return { 202: { description, headers, content: jsonOf({ schema, ...exampleOf(route.name, own) }) } };
}

function jsonOf(content: JsonObject): JsonObject {
  return { 'application/json': content };
}

function contentOf(route: Route, schema: TSchema, components: Components): JsonObject {
  const { contentType = 'application/json' } = route;
  return {
    [contentType]: {
      schema: components.ref(
        contentType === 'application/json' ? bodyNameOf(route, schema, 'Answer') : schema,
        'shown',
      ),
      ...exampleOf(route.name, schema),
    },
  };
}

function successHeaders(route: Route, status: string, schema: TSchema | null): string[] {
  if (writesRows(route))
    return ['Tatami-Mode', 'Idempotent-Replayed', ...createdHeaders(route, status, schema)];
  if (route.kind === 'file') return ['ETag', 'Accept-Ranges', ...(status === '206' ? ['Content-Range'] : [])];
  return route.kind === 'read' || (route.kind === 'raw' && route.cached) ? ['ETag'] : [];
}

/** Returns the headers for an object. A 202 has no version yet. A 201 has one, even if its body omits it. */
function createdHeaders(route: Route, status: string, schema: TSchema | null): string[] {
  if (!isObject(schema)) return [];
  const isOfOneVersion = status === '201' || (status === '200' && hasVersion(schema));
  return [...(isOfOneVersion ? ['ETag'] : []), ...(makes(route) ? ['Location'] : [])];
}

function successText(status: string, schema: TSchema | null): string {
  if (status === '200') return schema !== null && isList(schema) ? 'A page of the list.' : 'Success.';
  const texts: Readonly<Record<string, string>> = {
    201: 'Created.',
    202: 'Queued.',
    204: 'Success, without a body.',
    206: 'The requested range of the file.',
  };
  return texts[status] ?? 'Success.';
}

const errorsOfKinds: Readonly<Partial<Record<Route['kind'], ErrorCode>>> = {
  upload: 'request_timeout',
  file: 'range_not_satisfiable',
};

/** Returns every error code of a route, derived from its input and kind. */
function errorsOf(route: Route): ReadonlySet<ErrorCode> {
  const codes = new Set<ErrorCode>([
    'validation_failed',
    'internal_error',
    'unavailable',
    ...(route.errors ?? []),
  ]);
  // A wrong token is rejected even by public routes; routes without a limit ignore tokens.
  if (route.limit !== 'none') codes.add('unauthorized').add('rate_limited');
  if (route.scope !== null) codes.add('insufficient_scope');
  if (sensitiveOperations.has(route.name)) codes.add('recent_sign_in_required');
  if (route.params) codes.add('not_found').add('malformed_request');
  // A write without a body rejects a body.
  const isWrite = writesRows(route);
  if (isWrite || route.body)
    codes.add('malformed_request').add('payload_too_large').add('unsupported_media_type');
  const ofKind = errorsOfKinds[route.kind];
  if (ofKind) codes.add(ofKind);
  if (route.query && 'limit' in route.query.properties) codes.add('invalid_cursor').add('budget_exceeded');
  if (isWrite) {
    // A write without `If-Match` support rejects the header.
    codes.add('precondition_failed').add('conflict').add('storage_full');
    // Some writes cannot be proposed.
    codes.add('forbidden');
    codes.add('idempotency_in_progress').add('idempotency_key_reused');
  }
  return codes;
}

function failures(route: Route, components: Components): JsonObject {
  const possible = errorsOf(route);
  const own = new Set(Object.keys(route.responses));
  const byStatus = new Map<number, ErrorCode[]>();
  for (const [code, { status }] of Object.entries(errorCodes) as [ErrorCode, { status: number }][])
    if (possible.has(code)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  return Object.fromEntries(
    [...byStatus]
      .filter(([status]) => !own.has(String(status)))
      .map(([status, codes]) => [
        status,
        components.response(codes.map(nameOf).join('Or'), () => failure(status, codes)),
      ]),
  );
}

function failure(status: number, codes: readonly ErrorCode[]): JsonObject {
  const more = { 401: ['WWW-Authenticate'], 416: ['Content-Range'], 429: ['Retry-After'] }[status] ?? [];
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCodes[code].text}`).join('\n\n'),
    'x-error-codes': codes,
    headers: headerRefs([...always, ...more]),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

function headerRefs(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
