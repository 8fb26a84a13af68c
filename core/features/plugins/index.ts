import { pluginMetrics } from './metrics.ts';
import { pluginFacts } from './checks.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { plugin } from './installs/contract.ts';
import { AutomationRun } from './runs/contract.ts';
import { AutomationUndone } from './undo/contract.ts';
import { installModel } from './installs/schema.ts';
import { pluginSamples } from './samples.ts';

export const plugins = defineFeature({
  name: 'plugins',
  contracts: [plugin],
  models: [installModel],
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

export { installFirstParty } from './first-party.ts';
export { createPublicTriage } from './public-triage/triage.ts';
export type { ForgetIssues } from './purged/forget.ts';
export { createPluginRuntime } from './runtime.ts';
export { createSandboxOnDemand, type SandboxOnDemand } from './sandbox-on-demand.ts';
