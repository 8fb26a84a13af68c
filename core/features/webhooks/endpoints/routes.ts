// Routes of webhook endpoints. `rules` passes in the running services that they need.
import { Type } from 'typebox';
import { schemasOf } from '../../../kernel/contract/schemas.ts';
import { defineRoute } from '../../../kernel/http/route.ts';
import { Closed, idOf, namedSchema, time, version } from '../../../platform/lib/schema.ts';
import { defineResource, type Resource } from '../../../kernel/resource/define.ts';
import { webhook } from './contract.ts';
import {
  createEndpoint,
  updateEndpoint,
  type EndpointRules,
  rotateSecret,
  SecretRotate,
} from './operations.ts';
import { endpointModel } from './model.ts';

const EndpointCreated = namedSchema(
  'WebhookCreated',
  Closed({
    id: idOf(webhook.id),
    url: webhook.fields.url.input,
    events: webhook.fields.events.response,
    enabled: webhook.fields.enabled.response,
    secret: Type.String({ description: 'Signing secret of the endpoint. It is shown only once.' }),
  }),
);
const SecretRotated = namedSchema(
  'WebhookSecretRotated',
  Closed({
    id: idOf(webhook.id),
    secret: Type.String({ description: 'New signing secret. It is shown only once.' }),
    previousSecretExpiresAt: time,
    version,
  }),
);

export function endpointResource(rules: EndpointRules): Resource {
  return defineResource(webhook, endpointModel, {
    operations: {
      update: (ctx, id, patch, ifMatch) => updateEndpoint(ctx, id, patch, ifMatch, rules),
    },
    routes: [
      defineRoute({
        method: 'POST',
        path: '/api/v1/webhooks',
        name: 'webhooks.create',
        summary: 'Create a webhook; its signing secret is shown once',
        description: 'Each event type also needs the read scope of its namespace.',
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
        summary: 'Rotate the signing secret; the new one is shown once',
        description:
          'Until the overlap ends, deliveries carry one signature per secret, newest first. The audit log records the actor and the time of the last successful delivery signed with the previous secret.',
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
