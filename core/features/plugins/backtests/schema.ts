import { Type } from 'typebox';
import {
  Closed,
  described,
  enumeration,
  requestTime,
  idOf,
  namedSchema,
  nullable,
  time,
} from '../../../platform/lib/schema.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { installSettings, plugin } from '../installs/contract.ts';
import { signatureInput } from '../installs/schema.ts';
import { BacktestReport, GateReport } from './report.ts';

const packed = 'Package, as written by `tatami plugin pack`.';
const document = Type.Object({}, { description: packed });
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
  settings: Type.Optional(installSettings),
};

export const BacktestCreate = namedSchema(
  'BacktestCreate',
  Closed({ package: document, signature: signatureInput, ...window }),
);
export const PluginBacktest = namedSchema(
  'PluginBacktest',
  Closed({
    package: Type.Optional(Type.Object({}, { description: `${packed} Default: the installed version.` })),
    signature: signatureInput,
    ...window,
  }),
);
export const GateCreate = namedSchema(
  'GateCreate',
  Closed({
    package: document,
    signature: signatureInput,
    runs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        description: 'Number of last runs to compare; default 20.',
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
    '`backtest` for one version over a time window, `gate` to compare two versions on the last runs.',
  ),
  pluginId: nullable(idOf(plugin.id, 'Id of the install; null if the plugin is not installed.')),
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
