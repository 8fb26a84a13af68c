// Serves the OpenAPI document. It is built on the first request, from the mounted routes including its own.
import { Type } from 'typebox';
import { cacheBody, type CachedBody } from '../request/cached-body.ts';
import { namedSchema } from '../../../platform/lib/schema.ts';
import { defineRoute, type Route } from '../route.ts';
import { buildDocument, type DocumentFacts } from './document.ts';

const OpenApiDocument = namedSchema(
  'OpenApiDocument',
  Type.Object(
    {},
    {
      description: 'OpenAPI 3.1 document; see spec.openapis.org.',
      examples: [{ openapi: '3.1.1', info: { title: 'Tatami', version: '1.0.0' }, paths: {} }],
    },
  ),
);

export interface OpenApi {
  readonly route: Route;
  /** Sets the routes of the document. Routes that contradict each other make the first request for it fail. */
  describe(routes: readonly Route[]): void;
}

export function createOpenApi(facts: DocumentFacts): OpenApi {
  let described: readonly Route[] = [];
  let cachedDocument: Promise<CachedBody> | null = null;
  const build = (): Promise<CachedBody> => {
    const text = JSON.stringify(buildDocument({ ...facts, routes: described }));
    return cacheBody(() => text);
  };
  return {
    describe: (routes) => void (described = routes),
    route: defineRoute({
      method: 'GET',
      path: '/api/v1/openapi.json',
      name: 'openapi.get',
      summary: 'Get the OpenAPI document',
      scope: null,
      limit: 'read',
      cached: true,
      responses: { 200: OpenApiDocument },
      raw: async () => ({
        contentType: 'application/json',
        body: await (cachedDocument ??= build()),
        headers: { 'cache-control': 'public, no-cache' },
      }),
    }),
  };
}
