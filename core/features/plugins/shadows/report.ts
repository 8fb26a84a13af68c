import { Type, type Static } from 'typebox';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import {
  Closed,
  described,
  enumeration,
  idOf,
  namedSchema,
  nullable,
  time,
} from '../../../platform/lib/schema.ts';
import { installSettings, plugin } from '../installs/contract.ts';
import { signatureInput } from '../installs/schema.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const Difference = Closed({
  runId: idOf(idPrefixes.run, 'Id of the run of the installed version.'),
  eventId: idOf(idPrefixes.event, 'Id of the event.'),
  type: Type.String({ description: 'Event type.' }),
  at: described(time, 'Time of the event.'),
  fields: Type.Array(
    Closed({
      object: Type.String({ description: 'Type of the object, with the id of an existing object.' }),
      field: Type.String({
        description: 'Name of the field; `error` of the object `run` if one of the runs failed.',
      }),
      real: Type.Unknown({ description: 'Value set by the installed version; null if it set none.' }),
      shadow: Type.Unknown({ description: 'Value that the shadow would have set; null if none.' }),
    }),
    { description: 'Fields set differently, the first 50.' },
  ),
});

const Report = Closed({
  runs: count('Number of events on which both versions ran.'),
  same: count('Number of events with the same effects in both versions.'),
  different: count('Number of events with different effects.'),
  failed: count('Number of failed runs of the shadow.'),
  dropped: count('Number of runs of the installed version that the shadow skipped because it lagged behind.'),
  cpuMs: Type.Number({ minimum: 0, description: 'CPU time of the shadow, in milliseconds.' }),
  differences: Type.Array(Difference, {
    description: 'Last 100 differences, newest first; empty without the scope `plugins:write`.',
  }),
});
export type ShadowReport = Static<typeof Report>;

export const emptyReport: ShadowReport = {
  runs: 0,
  same: 0,
  different: 0,
  failed: 0,
  dropped: 0,
  cpuMs: 0,
  differences: [],
};

const stoppings = ['asked', 'upgraded', 'removed'] as const;
export type StoppedBy = (typeof stoppings)[number];

export const ShadowResponse = namedSchema(
  'Shadow',
  Closed({
    pluginId: idOf(plugin.id, 'Id of the install.'),
    pluginVersion: Type.String({ description: 'Version of the shadow.' }),
    isRunning: Type.Boolean({ description: 'True while the shadow runs on new events.' }),
    stoppedBy: nullable(
      enumeration(
        'ShadowStop',
        stoppings,
        'Reason of the stop: `asked` by a request, `upgraded` or `removed` with its install; null while running.',
      ),
    ),
    waiting: count('Number of queued runs.'),
    report: described(Report, 'Comparison with the installed version.'),
    startedAt: described(time, 'Time of the start.'),
    stoppedAt: nullable(described(time, 'Time of the stop; null while running.')),
  }),
);

export const ShadowCreate = namedSchema(
  'ShadowCreate',
  Closed({
    package: Type.Object({}, { description: 'Package, as written by `tatami plugin pack`.' }),
    signature: signatureInput,
    settings: Type.Optional(installSettings),
  }),
);
