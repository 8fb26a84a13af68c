import { defineRoute } from '../../http/route.ts';
import { Closed } from '../../lib/schema.ts';
import { Type } from 'typebox';
import { pluginRef } from '../installs/ref.ts';
import { pluginVisibility, steering } from '../installs/rights.ts';
import { secretName, SecretSet, SecretResponse } from './schema.ts';
import { deleteSecret, getSecret, listSecrets, setSecret } from './secrets.ts';

const ofPlugin = Closed({ id: pluginRef });
const params = Closed({ id: pluginRef, name: secretName });

export const secretRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/plugins/{id}/secrets',
    name: 'plugins.secrets.list',
    summary: 'List the secrets of a plugin',
    scope: 'plugins:read',
    also: pluginVisibility,
    limit: 'read',
    params: ofPlugin,
    responses: {
      200: Closed({
        data: Type.Array(SecretResponse, { description: 'All secrets that the manifest declares.' }),
      }),
    },
    read: (ctx, { params }) => listSecrets(ctx, params.id),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/plugins/{id}/secrets/{name}',
    name: 'plugins.secrets.get',
    summary: 'Get a secret of a plugin, without its value',
    scope: 'plugins:read',
    also: pluginVisibility,
    limit: 'read',
    params,
    responses: { 200: SecretResponse },
    read: (ctx, { params }) => getSecret(ctx, params.id, params.name),
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/v1/plugins/{id}/secrets/{name}',
    name: 'plugins.secrets.set',
    summary: 'Set a secret of a plugin',
    description:
      'The value is stored encrypted, sent only to the hosts in the manifest, and never shown again.',
    scope: 'plugins:write',
    also: steering,
    limit: 'write',
    params,
    body: SecretSet,
    example: { value: 'sk_test_1234567890' },
    responses: { 200: SecretResponse },
    write: (ctx, { params, body, ifMatch }) => setSecret(ctx, params.id, params.name, body.value, ifMatch),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/plugins/{id}/secrets/{name}',
    name: 'plugins.secrets.delete',
    summary: 'Delete a secret of a plugin',
    scope: 'plugins:write',
    also: steering,
    limit: 'write',
    params,
    responses: { 204: null },
    write: (ctx, { params, ifMatch }) => deleteSecret(ctx, params.id, params.name, ifMatch),
  }),
];
