// Displays of single operations, where tables and lists of fields tell less. Each is loaded only when it is shown.

export interface Shown {
  /** True for a dry run. */
  readonly isTried: boolean;
}

/** @param value a copy of the response, or of its items, without control characters @returns the text for people */
type View = (value: never, shown: Shown) => Promise<string>;

const run: View = async (value) => (await import('./runs.ts')).runView(value);
const undo: View = async (value, { isTried }) => (await import('./undo.ts')).undoView(value, isTried);
const proposal: View = async (value) => (await import('./proposals.ts')).proposalView(value);
const delivery: View = async (value) => (await import('./deliveries.ts')).deliveryView(value);
const plugin: View = async (value) => (await import('./plugins.ts')).pluginView(value);

export const views: Readonly<Record<string, View>> = {
  'automations.health': async (value) => (await import('./health.ts')).healthView(value),
  'automations.run': run,
  'automations.simulate': async (value) => (await import('./effects.ts')).simulationView(value),
  'backtests.get': async (value) => (await import('../../plugin/backtest.ts')).backtestView(value),
  'boards.cards': async (value) => (await import('./issues.ts')).boardView(value),
  'deliveries.get': delivery,
  'deliveries.replay': delivery,
  'issues.bulk-update': async (value) => (await import('./issues.ts')).changesView(value),
  'issues.trail': async (value) => (await import('./trail.ts')).trailView(value),
  'openapi.get': async (value) => JSON.stringify(value, null, 2),
  'plugins.call-action': run,
  'plugins.get': plugin,
  'plugins.list': async (value) => (await import('./plugins.ts')).pluginsView(value),
  'plugins.rollback': plugin,
  'plugins.run-schedule': run,
  'plugins.runs': async (value) => (await import('./runs.ts')).runsView(value),
  'plugins.undo': undo,
  'plugins.update': plugin,
  'proposals.approve': proposal,
  'proposals.get': proposal,
  'proposals.list': async (value) => (await import('./proposals.ts')).proposalsView(value),
  'proposals.reject': proposal,
  'proposals.rerun': proposal,
  'proposals.undo': undo,
  'runs.cancel': run,
  'runs.get': run,
  'runs.retry': run,
  'runs.undo': undo,
  'undos.undo': undo,
  'webhooks.ping': delivery,
  'webhooks.sample': delivery,
};
