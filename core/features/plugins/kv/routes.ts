// Routes to read and write the values of an install, within its quota.
import { Type } from 'typebox';
import {
  Closed,
  described,
  namedSchema,
  time,
  version,
  limitDefault,
  pageOf,
  pageQuery,
} from '../../../platform/lib/schema.ts';
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import { cursorOf, type PageParameters } from '../../../kernel/changes/list.ts';
import { isoTime, requireVersion } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { ApiError, invalidField } from '../../../platform/lib/errors/errors.ts';
import { readPage } from '../../../platform/store/page.ts';
import { getInstall } from '../installs/installs.ts';
import type { Install } from '../installs/model.ts';
import {
  changeValue,
  deltaOf,
  findEntry,
  findMeta,
  idOfKey,
  installBytesMax,
  isValue,
  usageOf,
  valueBytesMax,
} from './entries.ts';
import { defineRoute } from '../../../kernel/http/route.ts';
import { pluginRef, pluginVisibility, steering } from '../installs/rights.ts';

const kvKey = Type.String({
  pattern: '^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,199}$',
  description: 'Key of the value: up to 200 letters, digits and _ - . :',
});
const key = Type.String({ description: 'Key of the value.' });
const value = Type.Unknown({ description: 'Any JSON value, up to 2 MiB.' });
const updatedAt = described(time, 'Time of the last write.');

const KvResponse = namedSchema(
  'PluginValue',
  Closed({
    key,
    value,
    version,
    updatedAt,
  }),
);
const KvListed = namedSchema(
  'PluginValueEntry',
  Closed({
    key,
    bytes: Type.Integer({ description: 'Size of the value in bytes.' }),
    version,
    updatedAt,
  }),
);
const KvSet = namedSchema('PluginValueSet', Closed({ value }));

async function getValue(ctx: Context, pluginId: string, key: string) {
  const install = await getInstall(ctx, pluginId);
  const entry = await findEntry(ctx.store, ctx.scope, install.id, key);
  if (!entry || entry.valueJson === null) throw noValue(install, key);
  return {
    key,
    value: JSON.parse(entry.valueJson) as unknown,
    version: entry.version,
    updatedAt: isoTime(entry.updatedAt),
  };
}

async function setValue(
  ctx: Context,
  pluginId: string,
  key: string,
  value: unknown,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const { id: installId } = await getInstall(ctx, pluginId);
  const before = await findMeta(ctx.store, ctx.scope, installId, key);
  if (before) requireVersion({ id: idOfKey(installId, key), ...before }, ifMatch);
  const valueJson = JSON.stringify(value);
  const toResponse = ({ version, updatedAt }: { version: number; updatedAt: number }) => ({
    key,
    value,
    version,
    updatedAt: isoTime(updatedAt),
  });
  if (before && (await isValue(ctx.store, ctx.scope, before, valueJson)))
    return { changes: [], body: toResponse(before) };
  const usage = await usageOf(ctx.store, ctx.scope, installId);
  const at = { nowMs: ctx.nowMs(), newVersion: usage.version };
  const change = changeValue(before, { installId, key }, valueJson, at);
  if (change.after.bytes > valueBytesMax)
    throw invalidField('value', 'too_long', `Use at most ${valueBytesMax} bytes of JSON.`);
  const delta = deltaOf(before, change.after);
  if (delta > 0 && usage.bytes + delta > installBytesMax)
    throw invalidField('value', 'too_big', {
      why: `A plugin can store at most ${installBytesMax} bytes, keys included.`,
      fix: 'Delete keys that are no longer needed.',
    });
  return { changes: [change], body: toResponse(change.after) };
}

async function deleteValue(
  ctx: Context,
  pluginId: string,
  key: string,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  const installId = install.id;
  const before = await findMeta(ctx.store, ctx.scope, installId, key);
  if (!before) throw noValue(install, key);
  requireVersion({ id: idOfKey(installId, key), ...before }, ifMatch);
  const at = { nowMs: ctx.nowMs(), newVersion: before.version };
  return { changes: [changeValue(before, { installId, key }, null, at)], body: undefined };
}

/** Lists the keys in order, without their values. */
async function listValues(ctx: Context, pluginId: string, query: PageParameters & { prefix?: string }) {
  const { id: installId } = await getInstall(ctx, pluginId);
  const { prefix = '' } = query;
  const { data, pageInfo } = await readPage(ctx.store, ctx.sealing, ctx.scope, {
    table: 'plugin_kv',
    select: 'id, key, bytes, version, updated_at',
    where: [
      { sql: 'install_id = :installId', params: { installId } },
      { sql: 'substr(key, 1, length(:prefix)) = :prefix', params: { prefix } },
    ],
    order: [{ sql: 'key', direction: 'asc' }],
    limit: query.limit ?? limitDefault,
    after: cursorOf(query),
    parameters: { installId, prefix },
  });
  return {
    data: data.map((row) => ({
      key: row.key,
      bytes: row.bytes,
      version: row.version,
      updatedAt: isoTime(Number(row.updated_at)),
    })),
    pageInfo,
  };
}

function noValue({ pluginId }: Install, key: string): ApiError {
  return new ApiError(
    'not_found',
    `${pluginId} has no value for the key ${key}. Use a key that the list of keys returns.`,
  );
}

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
