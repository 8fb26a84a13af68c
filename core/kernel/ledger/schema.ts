import { Type } from 'typebox';
import { Closed, enumeration, namedSchema, nullable } from '../../platform/lib/schema.ts';

const amount = (description: string) => Type.Number({ minimum: 0, description });

const amountProperties = {
  cpuMs: amount('CPU time of the server, milliseconds.'),
  sandboxMs: amount('CPU time of plugin handlers, milliseconds.'),
  queueMs: amount('Queue time of runs and long reads, milliseconds.'),
  bytesIn: amount('Size of request bodies, bytes.'),
  bytesOut: amount('Size of responses and deliveries, bytes.'),
  requests: amount('Number of requests and of host calls by plugins.'),
  runs: amount('Number of attempts of plugin runs.'),
  deliveries: amount('Number of attempts of webhook deliveries.'),
};
const AccountUsage = namedSchema(
  'CallerUsage',
  Closed({
    kind: enumeration(
      'CallerUsageKind',
      ['token', 'plugin', 'webhook', 'workspace'],
      'Type of the caller; `workspace` is usage without a specific caller.',
    ),
    id: nullable(
      Type.String({
        description: 'Id of the API key, plugin installation or webhook endpoint; null for `workspace`.',
      }),
    ),
    name: nullable(
      Type.String({
        description: 'Name of the caller; null for `workspace` and for callers you may not read.',
      }),
    ),
    ...amountProperties,
    storedBytes: amount("Size of the plugin's stored values and code, bytes; 0 for other callers."),
  }),
);
export const UsageResponse = namedSchema(
  'Usage',
  Closed({
    minutes: Type.Integer({ description: 'Length of the reported period, minutes.' }),
    total: Closed(amountProperties, { description: 'Sum over all callers.' }),
    storedBytes: amount(
      'Size of the stored values and code of plugins and of stored responses of idempotency keys, bytes.',
    ),
    payers: Type.Array(AccountUsage, { description: 'Callers, highest CPU time first; at most 200.' }),
  }),
);
