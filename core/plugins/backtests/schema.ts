// The public shape of backtests and gates, and the bodies that ask for them.
import { Type } from 'typebox';
import { Closed, described, enumeration, givenTime, idOf, named, nullable, time } from '../../lib/schema.ts';
import { idPrefixes } from '../../lib/ids.ts';
import { installSettings, plugin } from '../installs/contract.ts';
import { signatureGiven } from '../installs/schema.ts';
import { BacktestReport, GateReport } from './report.ts';

const packed = 'A package document, as `tatami plugin pack` writes it.';
const document = Type.Object({}, { description: packed });
const window = {
  since: Type.Optional(described(givenTime, 'Events from here on; 30 days ago where it is not given.')),
  until: Type.Optional(described(givenTime, 'Events up to here; now where it is not given.')),
  events: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Events that it runs for at most; 10,000 by default.',
    }),
  ),
  settings: Type.Optional(installSettings),
};

export const BacktestCreate = named(
  'BacktestCreate',
  Closed({ package: document, signature: signatureGiven, ...window }),
);
export const PluginBacktest = named(
  'PluginBacktest',
  Closed({
    package: Type.Optional(
      Type.Object({}, { description: `${packed} Without it, the installed version is tried.` }),
    ),
    signature: signatureGiven,
    ...window,
  }),
);
export const GateCreate = named(
  'GateCreate',
  Closed({
    package: document,
    signature: signatureGiven,
    runs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        description: 'The last runs that it looks at; 20 by default.',
      }),
    ),
    settings: Type.Optional(installSettings),
  }),
);

const count = (description: string) => Type.Integer({ minimum: 0, description });
const facts = {
  id: idOf(idPrefixes.backtest),
  kind: enumeration(
    'BacktestKind',
    ['backtest', 'gate'],
    'Over a time, or over the last runs of two versions.',
  ),
  pluginId: nullable(idOf(plugin.id, 'The install; null where the plugin is not installed.')),
  plugin: Type.String({ description: "The manifest's id." }),
  pluginVersion: Type.String({ description: 'The version that is tried.' }),
  scopes: Type.Array(Type.String(), {
    description:
      'What it may do: of the scopes that it asks those that whoever asked for this holds in full.',
  }),
  status: enumeration(
    'BacktestStatus',
    ['queued', 'running', 'done', 'canceled', 'failed'],
    'How far it has come.',
  ),
  progress: nullable(
    Closed(
      {
        looked: count('Events that were looked at; of a gate, runs.'),
        of: count('Of so many.'),
        runs: count('Runs made.'),
      },
      { description: 'How far it is; null where it is not at work.' },
    ),
  ),
  error: nullable(Type.String({ description: 'Why it failed.' })),
  createdAt: described(time, 'When it was asked for.'),
  startedAt: nullable(described(time, 'When it began.')),
  finishedAt: nullable(described(time, 'When it ended.')),
};

export const BacktestListed = named('BacktestListed', Closed(facts));
export const BacktestShown = named(
  'Backtest',
  Closed({
    ...facts,
    report: nullable(
      described(BacktestReport, 'What came of a backtest; null of a gate, and until it is done.'),
    ),
    gate: nullable(described(GateReport, 'What came of a gate; null of a backtest, and until it is done.')),
  }),
);
