import { defineRoute, type Route } from '../../http/route.ts';
import { Closed, id, pageOf, pageQuery } from '../../lib/schema.ts';
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  updateEndpoint,
  type EndpointRules,
} from './endpoints.ts';
import { rotateSecret } from './rotate.ts';
import {
  EndpointCreate,
  EndpointCreated,
  EndpointShown,
  EndpointUpdate,
  SecretRotate,
  SecretRotated,
} from './schema.ts';

const params = Closed({ id: id('endpoint') });

export function endpointRoutes(rules: EndpointRules): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/webhooks',
      name: 'webhooks.list',
      summary: 'List webhook endpoints, newest first',
      scope: 'webhooks:read',
      limit: 'read',
      query: Closed(pageQuery),
      responses: { 200: pageOf(EndpointShown) },
      errors: ['invalid_cursor'],
      read: (ctx, { query }) => listEndpoints(ctx, query),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/webhooks',
      name: 'webhooks.create',
      summary: 'Register a webhook; its signing secret is shown once',
      description: "Each event type needs its namespace's read scope as well.",
      scope: 'webhooks:write',
      limit: 'write',
      body: EndpointCreate,
      example: { url: 'https://hooks.acme.example/tatami', events: ['issue.*'] },
      responses: { 201: EndpointCreated },
      secret: true,
      write: (ctx, { body }) => createEndpoint(ctx, body, rules),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/webhooks/{id}',
      name: 'webhooks.get',
      summary: 'Get a webhook endpoint',
      scope: 'webhooks:read',
      limit: 'read',
      params,
      responses: { 200: EndpointShown },
      read: (ctx, { params }) => getEndpoint(ctx, params.id),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/api/v1/webhooks/{id}',
      name: 'webhooks.update',
      summary: 'Change a webhook endpoint, or switch it on or off',
      scope: 'webhooks:write',
      limit: 'write',
      params,
      body: EndpointUpdate,
      example: { enabled: true },
      responses: { 200: EndpointShown },
      write: (ctx, { params, body, ifMatch }) => updateEndpoint(ctx, params.id, body, ifMatch, rules),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/webhooks/{id}',
      name: 'webhooks.delete',
      summary: 'Delete a webhook endpoint',
      scope: 'webhooks:write',
      limit: 'write',
      params,
      responses: { 204: null },
      write: (ctx, { params, ifMatch }) => deleteEndpoint(ctx, params.id, ifMatch),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/webhooks/{id}/rotate',
      name: 'webhooks.rotate',
      summary: 'Replace the signing secret; the new one is shown once',
      description:
        'Until the overlap ends, deliveries carry a signature of each secret, the newest first. The audit log says who rotated, and when the secret before last signed a delivery that succeeded.',
      scope: 'webhooks:write',
      limit: 'write',
      params,
      body: SecretRotate,
      example: { overlapHours: 24 },
      responses: { 200: SecretRotated },
      errors: ['conflict'],
      secret: true,
      write: (ctx, { params, body, ifMatch }) =>
        rotateSecret(ctx, params.id, body, ifMatch, (id) => rules.lastSucceededAt(ctx.scope, id)),
    }),
  ];
}
