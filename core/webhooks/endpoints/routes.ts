// The routes of webhook endpoints: the plain ones, registering, and rotating the secret. What registering needs of the running
// service comes in as `rules`.
import { Type } from 'typebox';
import { schemasOf } from '../../contract/schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { Closed, idOf, named, time, version } from '../../lib/schema.ts';
import { defineResource, type Resource } from '../../resource/define.ts';
import { webhook } from './contract.ts';
import { createEndpoint, updateEndpoint, type EndpointRules } from './endpoints.ts';
import { endpointKind } from './kind.ts';
import './loss.ts';
import { rotateSecret, SecretRotate } from './rotate.ts';

const EndpointCreated = named(
  'WebhookCreated',
  Closed({
    id: idOf(webhook.id),
    url: webhook.fields.url.given,
    events: webhook.fields.events.shown,
    enabled: webhook.fields.enabled.shown,
    secret: Type.String({ description: 'Signs each delivery. It is shown this once.' }),
  }),
);
const SecretRotated = named(
  'WebhookSecretRotated',
  Closed({
    id: idOf(webhook.id),
    secret: Type.String({ description: 'Signs from now on. It is shown this once.' }),
    previousSecretExpiresAt: time,
    version,
  }),
);

export function endpointResource(rules: EndpointRules): Resource {
  return defineResource(webhook, endpointKind, {
    operations: {
      update: (ctx, id, patch, ifMatch) => updateEndpoint(ctx, id, patch, ifMatch, rules),
    },
    routes: [
      defineRoute({
        method: 'POST',
        path: '/api/v1/webhooks',
        name: 'webhooks.create',
        summary: 'Register a webhook; its signing secret is shown once',
        description: "Each event type needs its namespace's read scope as well.",
        scope: 'webhooks:write',
        limit: 'write',
        body: schemasOf(webhook).create,
        example: { url: 'https://hooks.acme.example/tatami', events: ['issue.*'] },
        responses: { 201: EndpointCreated },
        secret: true,
        write: (ctx, { body }) => createEndpoint(ctx, body, rules),
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
        params: Closed({ id: idOf(webhook.id) }),
        body: SecretRotate,
        example: { overlapHours: 24 },
        responses: { 200: SecretRotated },
        errors: ['conflict'],
        secret: true,
        write: (ctx, { params, body, ifMatch }) =>
          rotateSecret(ctx, params.id, body, ifMatch, (id) => rules.lastSucceededAt(ctx.scope, id)),
      }),
    ],
  });
}
