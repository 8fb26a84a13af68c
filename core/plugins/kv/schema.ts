// The key-value store of an install: JSON values that belong to it alone. The machinery's own rows: they make no events.
import { Type, type Static } from 'typebox';
import type { Entity } from '../../changes/change.ts';
import { defineKind } from '../../changes/kind.ts';
import { isoTime } from '../../changes/operations.ts';
import { Closed, named, time, version } from '../../lib/schema.ts';

export const valueBytesMax = 2 * 1024 * 1024;
export const installBytesMax = 16 * 1024 * 1024;

export const kvKey = Type.String({
  pattern: '^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,199}$',
  description: 'Up to 200 letters, digits and _ - . :',
});
export const KvShown = named(
  'PluginValue',
  Closed({
    key: Type.String(),
    value: Type.Unknown({ description: 'Any JSON, up to 2 MiB.' }),
    version,
    updatedAt: time,
  }),
);
export const KvListed = Closed({ key: Type.String(), bytes: Type.Integer(), version, updatedAt: time });
export const KvSet = Closed({ value: Type.Unknown({ description: 'Any JSON, up to 2 MiB.' }) });

export interface KvEntry extends Entity {
  readonly installId: string;
  readonly key: string;
  readonly bytes: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Null once deleted; the row stays until the install goes. */
  readonly valueJson: string | null;
}

export const kvKind = defineKind<KvEntry, Static<typeof KvShown>>({
  name: 'plugin_kv',
  table: 'plugin_kv',
  fields: {
    installId: 'install_id',
    key: 'key',
    bytes: 'bytes',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
    valueJson: 'value_json',
  },
  wire: (entry) => ({
    key: entry.key,
    value: entry.valueJson === null ? null : JSON.parse(entry.valueJson),
    version: entry.version,
    updatedAt: isoTime(entry.updatedAt),
  }),
  events: { machinery: "a plugin's own memory is no fact of the workspace" },
});
