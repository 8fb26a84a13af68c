// Reads and writes an install's values, within its quota.
import type { ChangeSet } from '../../changes/change.ts';
import { cursorOf, type PageParameters } from '../../changes/list.ts';
import { requireVersion } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { invalidField, notFound } from '../../lib/errors.ts';
import { limitDefault } from '../../lib/schema.ts';
import { readPage } from '../../store/page.ts';
import { tenantStatement } from '../../store/statement.ts';
import { getInstall } from '../installs/installs.ts';
import { installBytesMax, kvKind, valueBytesMax, type KvEntry } from './schema.ts';

const bytesUsed = tenantStatement<{ bytes: number }>(
  'plugin_kv.bytes_used',
  'SELECT coalesce(sum(bytes), 0) AS bytes FROM plugin_kv WHERE workspace_id = :ws AND install_id = :installId',
);

async function findEntry(
  ctx: Context,
  pluginId: string,
  key: string,
): Promise<{ id: string; installId: string; entry: KvEntry | undefined }> {
  const installId = (await getInstall(ctx, pluginId)).id;
  const id = `${installId}/${key}`;
  return { id, installId, entry: await kvKind.find(ctx, id) };
}

export async function getValue(ctx: Context, pluginId: string, key: string) {
  const { entry } = await findEntry(ctx, pluginId, key);
  if (!entry || entry.valueJson === null) throw notFound();
  return kvKind.wire(entry, ctx);
}

export async function setValue(
  ctx: Context,
  pluginId: string,
  key: string,
  value: unknown,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const { id, installId, entry } = await findEntry(ctx, pluginId, key);
  if (entry) requireVersion(entry, ifMatch);
  const valueJson = JSON.stringify(value);
  const bytes = Buffer.byteLength(valueJson);
  if (bytes > valueBytesMax)
    throw invalidField('value', 'too_long', `A value takes at most ${valueBytesMax} bytes of JSON.`);
  const used = (await ctx.store.readOne(ctx.scope, bytesUsed, { installId }))?.bytes ?? 0;
  if (used - (entry?.bytes ?? 0) + bytes > installBytesMax)
    throw invalidField(
      'value',
      'too_big',
      `A plugin keeps at most ${installBytesMax} bytes; delete some keys.`,
    );
  const now = ctx.nowMs();
  const change = entry
    ? kvKind.update(entry, { valueJson, bytes }, now)
    : kvKind.create({ id, installId, key, bytes, valueJson, createdAt: now, updatedAt: now });
  const shown = change?.after ?? entry!;
  return { changes: change ? [change] : [], body: kvKind.wire(shown, ctx) };
}

export async function deleteValue(
  ctx: Context,
  pluginId: string,
  key: string,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const { entry } = await findEntry(ctx, pluginId, key);
  if (!entry || entry.valueJson === null) throw notFound();
  requireVersion(entry, ifMatch);
  const change = kvKind.update(entry, { valueJson: null, bytes: 0 }, ctx.nowMs());
  return { changes: change ? [change] : [], body: undefined };
}

/** Keys in order, without their values. */
export async function listValues(
  ctx: Context,
  pluginId: string,
  query: PageParameters & { prefix?: string },
) {
  const { id: installId } = await getInstall(ctx, pluginId);
  const { prefix = '' } = query;
  const { data, pageInfo } = await readPage(ctx.store, ctx.sealing, ctx.scope, {
    table: 'plugin_kv',
    select: 'id, key, bytes, version, updated_at',
    where: [
      { sql: 'install_id = :installId AND value_json IS NOT NULL', params: { installId } },
      { sql: 'substr(key, 1, length(:prefix)) = :prefix', params: { prefix } },
    ],
    order: [{ sql: 'key', direction: 'asc' }],
    limit: query.limit ?? limitDefault,
    after: cursorOf(query),
  });
  return {
    data: data.map((row) => ({
      key: row.key,
      bytes: row.bytes,
      version: row.version,
      updatedAt: new Date(Number(row.updated_at)).toISOString(),
    })),
    pageInfo,
  };
}
