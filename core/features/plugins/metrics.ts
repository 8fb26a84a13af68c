import { systemStatement } from '../../platform/store/statement.ts';
import type { Metric } from '../../kernel/feature.ts';

const pluginStates = systemStatement<{ state: string; plugins: number }>(
  'plugins.by_state',
  'the metrics report the plugins of all workspaces by state',
  'SELECT state, count(*) AS plugins FROM plugins WHERE deleted_at IS NULL GROUP BY state',
);

export const pluginMetrics: readonly Metric[] = [
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
