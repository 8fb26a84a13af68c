// What is counted of a shadow, and the public shape of it.
import { Type, type Static } from 'typebox';
import { idPrefixes } from '../../lib/ids.ts';
import { Closed, described, enumeration, idOf, named, nullable, time } from '../../lib/schema.ts';
import { installSettings, plugin } from '../installs/contract.ts';
import { signatureGiven } from '../installs/schema.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const Difference = Closed({
  runId: idOf(idPrefixes.run, 'The run of the installed version.'),
  eventId: idOf(idPrefixes.event, 'The event that both ran for.'),
  type: Type.String({ description: 'Its type.' }),
  at: described(time, 'When it happened.'),
  fields: Type.Array(
    Closed({
      object: Type.String({ description: 'The kind, and the id of what was there.' }),
      field: Type.String({ description: 'The field; `error` of the object `run` where one of them failed.' }),
      real: Type.Unknown({ description: 'What the installed version made it; null for nothing.' }),
      shadow: Type.Unknown({ description: 'What the shadow would have made it; null for nothing.' }),
    }),
    { description: 'The first 50.' },
  ),
});

const Report = Closed({
  runs: count('Events that both ran for.'),
  same: count('Of these, both did the same.'),
  different: count('They did not.'),
  failed: count('Runs of the shadow that failed.'),
  dropped: count('Runs of the installed version without one of the shadow, which lagged behind.'),
  cpuMs: Type.Number({ minimum: 0, description: 'Processor time of the shadow, in milliseconds.' }),
  differences: Type.Array(Difference, {
    description: 'The last 100, newest first; empty without the scope `plugins:write`.',
  }),
});
export type ShadowReport = Static<typeof Report>;

export const emptyReport: ShadowReport = {
  ...{ runs: 0, same: 0, different: 0, failed: 0, dropped: 0, cpuMs: 0 },
  differences: [],
};

const stoppings = ['asked', 'upgraded', 'removed'] as const;
export type StoppedBy = (typeof stoppings)[number];

export const ShadowShown = named(
  'Shadow',
  Closed({
    pluginId: idOf(plugin.id, 'The install that it runs beside.'),
    pluginVersion: Type.String({ description: 'The version of the shadow.' }),
    isRunning: Type.Boolean({ description: 'Whether it runs for what happens now.' }),
    stoppedBy: nullable(
      enumeration('ShadowStop', stoppings, 'By request, or with the code or the install that it ran beside.'),
    ),
    waiting: count('Runs that are still to come.'),
    report: described(Report, 'What it would have done, beside what was done.'),
    startedAt: described(time, 'When it began.'),
    stoppedAt: nullable(described(time, 'When it stopped.')),
  }),
);

export const ShadowCreate = named(
  'ShadowCreate',
  Closed({
    package: Type.Object({}, { description: 'A package document, as `tatami plugin pack` writes it.' }),
    signature: signatureGiven,
    settings: Type.Optional(installSettings),
  }),
);
