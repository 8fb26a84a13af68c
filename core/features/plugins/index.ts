import { systemStatement } from '../../platform/store/statement.ts';
import { type Metric, defineFeature } from '../../kernel/feature.ts';
import { pluginFacts } from './checks.ts';
import { plugin } from './installs/contract.ts';
import { AutomationRun, AutomationUndone } from './contract.ts';
import { installModel } from './installs/model.ts';
import { watchReaction } from './rules/timers.ts';
import { pluginSamples } from './samples.ts';

const pluginStates = systemStatement<{ state: string; plugins: number }>(
  'plugins.by_state',
  'the metrics report the plugins of all workspaces by state',
  'SELECT state, count(*) AS plugins FROM plugins WHERE deleted_at IS NULL GROUP BY state',
);

const pluginMetrics: readonly Metric[] = [
  {
    type: 'counter',
    name: 'tatami_runs_total',
    help: 'Attempts of plugin runs, by outcome.',
    label: 'outcome',
    read: ({ outcomeCounter }) => outcomeCounter.of('runs'),
  },
  {
    type: 'gauge',
    name: 'tatami_plugins',
    help: 'Installed plugins.',
    label: 'state',
    read: async ({ store }) =>
      (await store.readSystem(pluginStates)).map(({ state, plugins }) => [state, plugins]),
  },
];

export const plugins = defineFeature({
  name: 'plugins',
  contracts: [plugin],
  models: [installModel],
  reactions: [watchReaction],
  events: {
    'automation.undone': AutomationUndone,
    'automation.run': AutomationRun,
    'automation.failed': AutomationRun,
  },
  tagGroup: 'Plugins',
  tags: [
    {
      name: 'runs',
      title: 'Plugin runs',
      doc: 'Runs of plugins: input, calls, changes, logs and cost.',
    },
    {
      name: 'undos',
      title: 'Undos',
      doc: 'Reversals of plugin changes; an undo can itself be undone.',
    },
    {
      name: 'backtests',
      title: 'Backtests',
      doc: 'Effects that a plugin version would have had on recorded events, compared with the changes people made.',
    },
  ],
  samples: pluginSamples,
  facts: pluginFacts,
  metrics: pluginMetrics,
});

export { installFirstParty } from './packages.ts';
export { createPublicTriage } from './public-triage.ts';
export { createPluginRuntime } from './runtime.ts';
export { createSandboxOnDemand, type SandboxOnDemand } from './sandbox.ts';
