// The key-value store of an install, as it is shown: JSON values that belong to it alone.
import { Type } from 'typebox';
import { Closed, described, named, time, version } from '../../lib/schema.ts';

export const kvKey = Type.String({
  pattern: '^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,199}$',
  description: 'Up to 200 letters, digits and _ - . :',
});
const key = Type.String({ description: 'What the value is kept under.' });
const value = Type.Unknown({ description: 'Any JSON, up to 2 MiB.' });
const updatedAt = described(time, 'When it was last set.');

export const KvShown = named(
  'PluginValue',
  Closed({
    key,
    value,
    version,
    updatedAt,
  }),
);
export const KvListed = named(
  'PluginValueEntry',
  Closed({
    key,
    bytes: Type.Integer({ description: 'How large the value is.' }),
    version,
    updatedAt,
  }),
);
export const KvSet = named('PluginValueSet', Closed({ value }));
