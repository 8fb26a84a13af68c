// The key-value store of an install, as it is shown: JSON values that belong to it alone.
import { Type } from 'typebox';
import { Closed, named, time, version } from '../../lib/schema.ts';

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
