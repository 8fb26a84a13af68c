// Stores the values of an install as rows. A write never reads the old value: the version guards it, and the
// usage row, updated in the same batch, enforces the quota.
import type { Change, Entity } from '../../../kernel/changes/change.ts';
import { asReadStatement, guardOp } from '../../../kernel/changes/reads.ts';
import type { RowOf } from '../../../kernel/table/define.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import { pluginKvTable, pluginKvUsageTable } from '../tables.ts';

export const valueBytesMax = 2 * 1024 * 1024;
/** Quota of one install in bytes, keys included. */
export const installBytesMax = 16 * 1024 * 1024;
/** Storage overhead of a key beyond its name and value: a row and its index entry. */
const keyOverheadBytes = 100;

export const kvModelName = 'plugin_kv';

/** Usage of an install; new entries get versions above `version`, and `changes` counts the writes so far. */
type KvUsage = Pick<RowOf<typeof pluginKvUsageTable>, 'bytes' | 'version' | 'changes'>;

/** An entry without its value. */
export interface KvMeta {
  readonly installId: string;
  readonly key: string;
  readonly version: number;
  readonly bytes: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface KvEntry extends Entity, KvMeta {
  /** JSON text; null once deleted. */
  readonly valueJson: string | null;
}

const metaColumns = ['version', 'bytes', 'created_at', 'updated_at'] as const;
type MetaRow = Pick<RowOf<typeof pluginKvTable>, (typeof metaColumns)[number]>;

const readMeta = pluginKvTable.select('meta', metaColumns, ['id']);
const readValue = pluginKvTable.select('value', [...metaColumns, 'value_json'], ['id']);
const readUsage = pluginKvUsageTable.select('read', ['bytes', 'version', 'changes'], ['id']);
const insert = pluginKvTable.insert('insert');
const update = pluginKvTable.update(
  'update',
  ['version', 'bytes', 'updated_at', 'value_json'],
  ['id'],
  'version = :version - 1',
);
const remove = pluginKvTable.remove('remove', ['id', 'version']);
const compareValue = tenantStatement<{ same: number }>(
  'plugin_kv.compare',
  'SELECT value_json = :expected AS same FROM plugin_kv WHERE workspace_id = :ws AND id = :id AND version = :version',
);
const moveUsage = tenantStatement(
  'plugin_kv_usage.move',
  `INSERT INTO plugin_kv_usage (workspace_id, id, bytes, keys, version, changes) VALUES (:ws, :installId, :delta, :keys, :version, 1)
   ON CONFLICT (workspace_id, id) DO UPDATE SET bytes = bytes + :delta, keys = keys + :keys, version = max(version, :version),
     changes = changes + 1
   WHERE :delta <= 0 OR bytes + :delta <= ${installBytesMax}`,
);

const unchanged = tenantStatement<{ changed: number }>(
  'plugin_kv_usage.as_read',
  `SELECT 0 AS changed WHERE :changes =
     coalesce((SELECT changes FROM plugin_kv_usage WHERE workspace_id = :ws AND id = :installId), 0)`,
);
/** Guards the read of one value. */
export const valueAsRead = asReadStatement('plugin_kv');

/** Returns the bytes of the quota that an entry uses. */
function costOf({ key, bytes }: KvMeta): number {
  return keyOverheadBytes + key.length + bytes;
}

export function idOfKey(installId: string, key: string): string {
  return `${installId}/${key}`;
}

function metaOf(installId: string, key: string, row: MetaRow): KvMeta {
  const { version, bytes, created_at: createdAt, updated_at: updatedAt } = row;
  return { installId, key, version, bytes, createdAt, updatedAt };
}

export async function findMeta(
  store: Store,
  scope: Scope,
  installId: string,
  key: string,
): Promise<KvMeta | null> {
  const row = await readMeta.one(store, scope, { id: idOfKey(installId, key) });
  return row ? metaOf(installId, key, row) : null;
}

export async function findEntry(
  store: Store,
  scope: Scope,
  installId: string,
  key: string,
): Promise<KvEntry | null> {
  const id = idOfKey(installId, key);
  const row = await readValue.one(store, scope, { id });
  return row ? { id, ...metaOf(installId, key, row), valueJson: row.value_json } : null;
}

/**
 * True if the stored value equals this one. The stored value is loaded only if the lengths match, the texts
 * differ, and key order may be the reason.
 */
export async function isValue(
  store: Store,
  scope: Scope,
  meta: KvMeta,
  expectedJson: string,
): Promise<boolean> {
  if (Buffer.byteLength(expectedJson) !== meta.bytes) return false;
  const params = {
    id: idOfKey(meta.installId, meta.key),
    version: meta.version,
    expected: expectedJson,
  };
  if ((await store.readOne(scope, compareValue, params))?.same === 1) return true;
  if (!hasOrder(expectedJson)) return false;
  const entry = await findEntry(store, scope, meta.installId, meta.key);
  return entry?.version === meta.version && isSameJson(entry.valueJson ?? 'null', expectedJson);
}

export async function usageOf(store: Store, scope: Scope, installId: string): Promise<KvUsage> {
  return (await readUsage.one(store, scope, { id: installId })) ?? { bytes: 0, version: 0, changes: 0 };
}

/** Returns a guard that fails the batch if any value of the install was written since its usage was read. */
export function unchangedOp(scope: Scope, installId: string, { changes }: KvUsage): Op {
  return guardOp(scope, unchanged, { installId, changes });
}

/**
 * Sets, or with `valueJson` null deletes, the value of a key.
 * @param before the stored entry; null if there is none
 * @param newVersion new entries get versions above this one, so that a version of a deleted entry is never reused
 */
export function changeValue(
  before: KvMeta | null,
  key: { readonly installId: string; readonly key: string },
  valueJson: string | null,
  at: { readonly nowMs: number; readonly newVersion: number },
): Change & { readonly after: KvEntry } {
  return makeChange(before, {
    id: idOfKey(key.installId, key.key),
    ...key,
    version: (before?.version ?? at.newVersion) + 1,
    bytes: valueJson === null ? 0 : Buffer.byteLength(valueJson),
    createdAt: before?.createdAt ?? at.nowMs,
    updatedAt: at.nowMs,
    valueJson,
  });
}

function makeChange(before: KvMeta | null, after: KvEntry): Change & { readonly after: KvEntry } {
  const { id, valueJson } = after;
  return {
    kind: kvModelName,
    id,
    before: before && { ...before, id },
    after,
    baseVersion: before?.version ?? null,
    isSilent: true,
    ops(scope) {
      if (!before && valueJson === null) return [];
      return [rowOp(scope, before, after), usageOp(scope, before, after)];
    },
    events: () => [],
    followedBy: (later) => makeChange(before, { ...(later.after as KvEntry), version: after.version }),
  };
}

function rowOp(scope: Scope, before: KvMeta | null, after: KvEntry): Op {
  const { id, installId, key, bytes, version, createdAt, updatedAt, valueJson } = after;
  const row = { id, bytes, version, updated_at: updatedAt, value_json: valueJson };
  if (!before) return insert(scope, { ...row, install_id: installId, key, created_at: createdAt });
  return valueJson === null
    ? remove(scope, { id, version: before.version }, { expectRows: 1 })
    : update(scope, row, { expectRows: 1 });
}

function usageOp(scope: Scope, before: KvMeta | null, after: KvEntry): Op {
  const isDeleted = after.valueJson === null;
  const params = {
    installId: after.installId,
    delta: deltaOf(before, after),
    keys: (isDeleted ? 0 : 1) - (before ? 1 : 0),
    version: isDeleted && before ? before.version : 0,
  };
  return tenantOp(scope, moveUsage, params, { expectRows: 1 });
}

/** Returns the bytes that a change adds to the usage of its install; negative if it frees space. */
export function deltaOf(before: KvMeta | null, after: KvEntry): number {
  return (after.valueJson === null ? 0 : costOf(after)) - (before ? costOf(before) : 0);
}

/**
 * False if key order cannot be the reason that two texts differ; the values then need not be read or parsed.
 */
const hasOrder = (json: string): boolean => json.includes('{');

/** Compares JSON texts made by `JSON.stringify` by value, ignoring the order of object keys. */
export function isSameJson(json: string, other: string): boolean {
  if (json === other) return true;
  if (json.length !== other.length || !hasOrder(other)) return false;
  return Bun.deepEquals(JSON.parse(json), JSON.parse(other), true);
}
