import { Type } from 'typebox';
import { defineRoute } from '../../../kernel/http/route.ts';
import { Closed, pageOf, pageQuery } from '../../../platform/lib/schema.ts';
import { pluginRef } from '../installs/ref.ts';
import { pluginVisibility, steering } from '../installs/rights.ts';
import { deleteValue, getValue, listValues, setValue } from './kv.ts';
import { kvKey, KvListed, KvSet, KvResponse } from './schema.ts';

const ofPlugin = Closed({ id: pluginRef });
const params = Closed({ id: pluginRef, key: kvKey });

export const kvRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/plugins/{id}/kv',
    name: 'plugins.kv.list',
    summary: 'List the stored keys of a plugin',
    scope: 'plugins:write',
    own: 'id',
    also: pluginVisibility,
    limit: 'read',
    params: ofPlugin,
    query: Closed({
      ...pageQuery,
      prefix: Type.Optional(
        Type.String({ maxLength: 200, description: 'Prefix by which keys are filtered.' }),
      ),
    }),
    responses: { 200: pageOf(KvListed) },
    errors: ['invalid_cursor'],
    read: (ctx, { params, query }) => listValues(ctx, params.id, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/plugins/{id}/kv/{key}',
    name: 'plugins.kv.get',
    summary: 'Get a value of a plugin',
    scope: 'plugins:write',
    own: 'id',
    also: pluginVisibility,
    limit: 'read',
    params,
    responses: { 200: KvResponse },
    read: (ctx, { params }) => getValue(ctx, params.id, params.key),
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/v1/plugins/{id}/kv/{key}',
    name: 'plugins.kv.set',
    summary: 'Set a value of a plugin',
    scope: 'plugins:write',
    own: 'id',
    also: steering,
    limit: 'write',
    params,
    body: KvSet,
    example: { value: { seen: 3 } },
    bodyBytesMax: 3 * 1024 * 1024,
    bodyPartsMax: 200_000,
    responses: { 200: KvResponse },
    write: (ctx, { params, body, ifMatch }) => setValue(ctx, params.id, params.key, body.value, ifMatch),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/plugins/{id}/kv/{key}',
    name: 'plugins.kv.delete',
    summary: 'Delete a value of a plugin',
    scope: 'plugins:write',
    own: 'id',
    also: steering,
    limit: 'write',
    params,
    responses: { 204: null },
    write: (ctx, { params, ifMatch }) => deleteValue(ctx, params.id, params.key, ifMatch),
  }),
];
