// The public shape of usage.
import { Type } from 'typebox';
import { Closed, enumeration, named, nullable } from '../lib/schema.ts';

const amount = (description: string) => Type.Number({ minimum: 0, description });

const amountsShown = {
  cpuMs: amount('Processor time of the server, in milliseconds.'),
  sandboxMs: amount('Processor time of plugin handlers, in milliseconds.'),
  queueMs: amount('Time that runs and long reads waited for their turn, in milliseconds.'),
  bytesIn: amount('Of request bodies.'),
  bytesOut: amount('Of answers and deliveries.'),
  requests: amount('Requests, and host calls of plugins.'),
  runs: amount('Attempts at plugin runs.'),
  deliveries: amount('Attempts at webhook deliveries.'),
};
const PayerShown = named(
  'Payer',
  Closed({
    kind: enumeration(
      'PayerKind',
      ['token', 'plugin', 'webhook', 'workspace'],
      'What kind of caller it is; `workspace` is what nobody in particular asked for.',
    ),
    id: nullable(Type.String({ description: 'The id of the key, install or endpoint.' })),
    name: nullable(Type.String({ description: 'What it is called.' })),
    ...amountsShown,
    storedBytes: amount('Of the values and the code of a plugin.'),
  }),
);
export const UsageShown = named(
  'Usage',
  Closed({
    minutes: Type.Integer({ description: 'Amounts are of so many minutes, and of the minutes begun since.' }),
    total: Closed(amountsShown, { description: 'Of all of them.' }),
    storedBytes: amount('Of the values and the code of plugins, and of what idempotency keys keep.'),
    payers: Type.Array(PayerShown, { description: 'Who used most processor time first; at most 200.' }),
  }),
);
