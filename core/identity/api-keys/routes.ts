import { defineRoute } from '../../http/route.ts';
import { Closed, id, pageOf, pageQuery } from '../../lib/schema.ts';
import { createApiKey, getApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';
import { ApiKeyCreate, ApiKeyMinted, ApiKeyShown } from './schema.ts';

const params = Closed({ id: id('apiKey') });

export const apiKeyRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/api-keys',
    name: 'api-keys.list',
    summary: 'List API keys, newest first',
    scope: 'api-keys:read',
    limit: 'read',
    query: Closed(pageQuery),
    responses: { 200: pageOf(ApiKeyShown) },
    read: (ctx, { query }) => listApiKeys(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/api-keys',
    name: 'api-keys.create',
    summary: 'Mint an API key; the key is shown once',
    scope: 'api-keys:write',
    limit: 'write',
    body: ApiKeyCreate,
    example: { name: 'CI', scopes: ['issues:read', 'issues:write'] },
    errors: ['forbidden'],
    responses: { 201: ApiKeyMinted },
    secret: true,
    write: (ctx, { body }) => createApiKey(ctx, body),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/api-keys/{id}',
    name: 'api-keys.get',
    summary: 'Get an API key without its secret',
    scope: 'api-keys:read',
    limit: 'read',
    params,
    responses: { 200: ApiKeyShown },
    read: (ctx, { params }) => getApiKey(ctx, params.id),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/api-keys/{id}',
    name: 'api-keys.delete',
    summary: 'Revoke an API key at once',
    scope: 'api-keys:write',
    limit: 'write',
    params,
    responses: { 204: null },
    write: (ctx, { params, ifMatch }) => revokeApiKey(ctx, params.id, ifMatch),
  }),
];
