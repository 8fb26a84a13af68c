// Generates the OpenAPI 3.1 document from the route registry alone, so that it cannot deviate from the server. The document is the
// authoritative catalogue of operations: docs/spec/api.md › OpenAPI document.
import type { TSchema } from 'typebox';
import { allScopes } from '../../rights/scopes.ts';
import type { Route } from '../route.ts';
import { createComponents, type Components, type JsonObject } from './components.ts';
import { errorExamples, ErrorResponse } from './errors.ts';
import { deliveryParameters, headers, headerSchemas, parameters } from './headers.ts';
import { introduction } from './introduction.ts';
import { describeOperation, isOperation, tagOf } from './operation.ts';
import { describeWebhooks, type SentEvent } from './webhooks.ts';

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

export interface DocumentOptions {
  readonly routes: readonly Route[];
  readonly version: string;
  readonly baseUrl: string;
  readonly webhooks: readonly SentEvent[];
  readonly tagGroups: readonly TagGroup[];
  /** Schema of the response to `Tatami-Mode: propose`. */
  readonly proposal: TSchema;
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
  if (unknown.length > 0) throw new Error(`Describe the tags ${unknown.join(', ')} in core/tags.ts.`);
  return {
    tags: known.map(({ name, title, doc }) => ({ name, description: doc, 'x-displayName': title })),
    'x-tagGroups': groups
      .filter((group) => usedOf(group).length > 0)
      .map((group) => ({ name: group.name, tags: usedOf(group).map(({ name }) => name) })),
  };
}
