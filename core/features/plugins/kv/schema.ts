import { Type } from 'typebox';
import { Closed, described, namedSchema, time, version } from '../../../platform/lib/schema.ts';

export const kvKey = Type.String({
  pattern: '^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,199}$',
  description: 'Key of the value: up to 200 letters, digits and _ - . :',
});
const key = Type.String({ description: 'Key of the value.' });
const value = Type.Unknown({ description: 'Any JSON value, up to 2 MiB.' });
const updatedAt = described(time, 'Time of the last write.');

export const KvResponse = namedSchema(
  'PluginValue',
  Closed({
    key,
    value,
    version,
    updatedAt,
  }),
);
export const KvListed = namedSchema(
  'PluginValueEntry',
  Closed({
    key,
    bytes: Type.Integer({ description: 'Size of the value in bytes.' }),
    version,
    updatedAt,
  }),
);
export const KvSet = namedSchema('PluginValueSet', Closed({ value }));
