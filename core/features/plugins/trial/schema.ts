// API schemas of backtests, gates and shadows.
import { Type, type Static } from 'typebox';
import {
  Closed,
  described,
  enumeration,
  idOf,
  namedSchema,
  nullable,
  time,
  requestTime,
} from '../../../platform/lib/schema.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { installId, installSettings, plugin } from '../installs/contract.ts';
import { signatureInput } from '../installs/schema.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const ms = (description: string) => Type.Number({ minimum: 0, description });
const any = (description: string) => Type.Unknown({ description });
const eventId = idOf(idPrefixes.event, 'Id of the event.');
const issueId = Type.String({ description: 'Id of the issue.' });
const eventFacts = {
  eventId,
  type: Type.String({ description: 'Event type.' }),
  at: described(time, 'Time of the event.'),
};
const objectName = Type.String({ description: 'Type of the object, with the id of an existing object.' });
const fieldName = Type.String({ description: 'Name of the field; `fields.<key>` for a custom field.' });

const agreements = ['same', 'opposite', 'nothing'] as const;
export type Agreement = (typeof agreements)[number];
const agreement = enumeration(
  'BacktestAgreement',
  agreements,
  'Comparison with the next change by people within 7 days: `same` value, `opposite` for another value, or `nothing` without a change.',
);

const FieldTotals = Closed({
  field: fieldName,
  wouldChange: count('Number of changes of the field, each value of an issue counted once.'),
  same: count('Number of changes after which a person set the same value.'),
  opposite: count('Number of changes after which a person set another value.'),
  nothing: count('Number of changes after which no person changed the field.'),
  agreement: nullable(
    Type.Number({
      description: 'Percentage of `same` among the changes that people made; null if there are none.',
    }),
  ),
  thenSame: count('Number of changes where the version installed at the time set the same value.'),
  thenOther: count('Number of changes where the version installed at the time set another value.'),
});
export type FieldReport = Static<typeof FieldTotals>;

const Counted = Closed({
  what: Type.String({
    description: 'Type and action, such as `comment create`, or the error code of failures.',
  }),
  count: count('Number of occurrences.'),
  samples: Type.Array(Type.Unknown(), { description: 'First few occurrences.' }),
});
export type Sampled = Static<typeof Counted>;

const ReportedEffect = Closed({
  eventId,
  sequence: count('Sequence of the event; the run read the state as of this event.'),
  at: described(time, 'Time of the event.'),
  issueId,
  field: fieldName,
  before: any('Value at the time of the event.'),
  wouldBe: any('Value that the version would have set, cut to 1,000 characters.'),
  people: agreement,
  peopleMadeIt: any('Value that the next person set; null if nobody did.'),
  runMadeIt: any('Value that the version installed at the time set; null if it set none.'),
});

export const BacktestReport = namedSchema(
  'BacktestReport',
  Closed({
    window: Closed(
      {
        since: described(time, 'Start of the window.'),
        until: described(time, 'End of the window.'),
        toSequence: count('Sequence of the last event in the window.'),
      },
      { description: 'Time window of the backtest.' },
    ),
    events: Closed(
      {
        looked: count('Number of events read.'),
        wanted: count('Number of events that match the subscriptions.'),
        cut: count('Number of matching events skipped by the loop limits.'),
      },
      { description: 'Number of events.' },
    ),
    endedBy: nullable(
      enumeration(
        'BacktestLimit',
        ['events', 'cpu'],
        'Limit that ended the backtest before the end of its window; null if none did.',
      ),
    ),
    runs: Closed(
      {
        total: count('Number of runs.'),
        succeeded: count('Number of successful runs.'),
        failed: count('Number of failed runs.'),
      },
      { description: 'Outcomes of the runs.' },
    ),
    fields: Type.Array(FieldTotals, { description: 'Totals by field, for updates of issues.' }),
    effects: Type.Array(ReportedEffect, { description: 'Effects on issue fields, the first 500.' }),
    effectsLeftOut: count('Number of effects beyond the listed ones.'),
    effectsRepeated: count(
      'Number of repeated effects on the same issue, which occur because a backtest commits nothing.',
    ),
    others: Type.Array(Counted, {
      description: 'Other effects: created objects, and changes of objects other than issues.',
    }),
    failures: Type.Array(Counted, {
      description: 'Failed runs, grouped by code and similar messages.',
    }),
    asOfNow: Type.Array(
      Closed({
        operation: Type.String({ description: 'Operation, such as `comments.list`.' }),
        reads: count('Number of reads.'),
      }),
      { description: 'Reads that the event log cannot answer for the past and that returned present data.' },
    ),
    costs: Closed(
      {
        calls: count('Number of host calls.'),
        callsRefused: count('Number of refused requests to other servers.'),
        cpuMs: ms('CPU time of all runs, in milliseconds.'),
        cpuMsP50: ms('Median CPU time of a run, in milliseconds.'),
        cpuMsP95: ms('95th percentile of the CPU time of a run, in milliseconds.'),
        perDay: Closed(
          {
            runs: ms('Number of runs.'),
            cpuMs: ms('CPU time, in milliseconds.'),
            calls: ms('Number of host calls.'),
          },
          { description: 'Averages per day of the window.' },
        ),
      },
      { description: 'Costs of the runs.' },
    ),
  }),
);
export type BacktestReport = Static<typeof BacktestReport>;

export const GateReport = namedSchema(
  'GateReport',
  Closed({
    runs: count('Number of past runs used for the comparison.'),
    same: count('Number of runs with the same effects.'),
    different: count('Number of runs with different effects.'),
    differences: Type.Array(
      Closed({
        ...eventFacts,
        fields: Type.Array(
          Closed({
            object: objectName,
            field: Type.String({ description: 'Name of the field; `error` if one of the runs failed.' }),
            old: any('Value set by the installed version; null if it sets none.'),
            new: any('Value set by the other version; null if it sets none.'),
          }),
          { description: 'Fields set differently.' },
        ),
      }),
      { description: 'Runs with different effects, in the order of their events.' },
    ),
  }),
);
export type GateReport = Static<typeof GateReport>;

const packed = 'Package, as written by `tatami plugins pack`.';
const tested = { package: Type.Object({}, { description: packed }), signature: signatureInput };
const settings = Type.Optional(installSettings);
const window = {
  since: Type.Optional(described(requestTime, 'Start of the window; default 30 days before `until`.')),
  until: Type.Optional(described(requestTime, 'End of the window; default now.')),
  events: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Maximum number of events to run on; default 10,000.',
    }),
  ),
};

export const BacktestCreate = namedSchema('BacktestCreate', Closed({ ...tested, ...window, settings }));
export const PluginBacktest = namedSchema(
  'PluginBacktest',
  Closed({
    package: Type.Optional(Type.Object({}, { description: `${packed} Default: the installed version.` })),
    signature: signatureInput,
    ...window,
    settings,
  }),
);
export const GateCreate = namedSchema(
  'GateCreate',
  Closed({
    ...tested,
    runs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        description: 'Number of last runs to compare; default 20.',
      }),
    ),
    settings,
  }),
);

const facts = {
  id: idOf(idPrefixes.backtest),
  kind: enumeration(
    'BacktestKind',
    ['backtest', 'gate'],
    '`backtest` for one version over a time window, `gate` to compare two versions on the last runs.',
  ),
  pluginId: nullable(installId('Id of the install or automation; null if the plugin is not installed.')),
  plugin: Type.String({ description: 'Id of the plugin in its manifest.' }),
  pluginVersion: Type.String({ description: 'Version under test.' }),
  scopes: Type.Array(Type.String(), {
    description: 'Scopes of the backtest: the requested scopes that the requester has in full.',
  }),
  status: enumeration(
    'BacktestStatus',
    ['queued', 'running', 'done', 'canceled', 'failed'],
    'Status of the backtest.',
  ),
  progress: nullable(
    Closed(
      {
        looked: count('Number of events read, or of runs for a gate.'),
        of: count('Total number.'),
        runs: count('Number of runs so far.'),
      },
      { description: 'Progress; null unless the backtest is running.' },
    ),
  ),
  error: nullable(Type.String({ description: 'Error message; null unless the backtest failed.' })),
  createdAt: described(time, 'Time of the request.'),
  startedAt: nullable(described(time, 'Time at which the backtest started; null until then.')),
  finishedAt: nullable(described(time, 'Time at which the backtest ended; null until then.')),
};

export const BacktestListed = namedSchema('BacktestListed', Closed(facts));
export const BacktestResponse = namedSchema(
  'Backtest',
  Closed({
    ...facts,
    report: nullable(
      described(
        BacktestReport,
        'Report of the backtest; null for a gate, and while the backtest is not done.',
      ),
    ),
    gate: nullable(
      described(GateReport, 'Report of the gate; null for a backtest, and while the gate is not done.'),
    ),
  }),
);

const ShadowDifference = Closed({
  runId: idOf(idPrefixes.run, 'Id of the run of the installed version.'),
  ...eventFacts,
  fields: Type.Array(
    Closed({
      object: objectName,
      field: Type.String({
        description: 'Name of the field; `error` of the object `run` if one of the runs failed.',
      }),
      real: any('Value set by the installed version; null if it set none.'),
      shadow: any('Value that the shadow would have set; null if none.'),
    }),
    { description: 'Fields set differently, the first 50.' },
  ),
});

const ShadowReport = Closed({
  runs: count('Number of events on which both versions ran.'),
  same: count('Number of events with the same effects in both versions.'),
  different: count('Number of events with different effects.'),
  failed: count('Number of failed runs of the shadow.'),
  dropped: count('Number of runs of the installed version that the shadow skipped because it lagged behind.'),
  cpuMs: ms('CPU time of the shadow, in milliseconds.'),
  differences: Type.Array(ShadowDifference, {
    description: 'Last 100 differences, newest first; empty without the scope `plugins:write`.',
  }),
});
export type ShadowReport = Static<typeof ShadowReport>;

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
    report: described(ShadowReport, 'Comparison with the installed version.'),
    startedAt: described(time, 'Time of the start.'),
    stoppedAt: nullable(described(time, 'Time of the stop; null while running.')),
  }),
);

export const ShadowCreate = namedSchema('ShadowCreate', Closed({ ...tested, settings }));
