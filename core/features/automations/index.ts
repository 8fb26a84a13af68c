import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { ana, sampleId } from '../../kernel/samples.ts';
import { automation } from './contract.ts';
import { automationModel } from './model.ts';

const stop = 'The owner is no longer a member. Choose another owner, then enable the automation.';

export const automations = defineFeature({
  name: 'automations',
  contracts: [automation],
  models: [automationModel],
  tagGroup: 'Plugins',
  samples: () => ({
    objects: {
      automation: {
        id: sampleId('atm'),
        name: 'Triage urgent bugs',
        description: 'Sets the priority of new bugs.',
        trigger: { type: 'event', event: 'issue.created', filter: { label: 'bug' } },
        conditions: { issue: { priority: 'none' } },
        issues: null,
        actions: [{ type: 'set', fields: { priority: 'high' } }],
        mode: 'apply',
        stepDown: { share: 0.3, days: 14, least: 5 },
        owner: ana,
        state: 'active',
        stateReason: null,
        revision: 2,
        probation: null,
        scopes: [{ scope: 'issues:write', fields: ['priority'] }],
        backtest: { id: sampleId('bkt'), status: 'done' },
      } satisfies Partial<EntityResponse<typeof automation>>,
    },
    moments: {
      'automation.updated': { now: { mode: 'propose' }, previous: { mode: 'apply' } },
      'automation.disabled': {
        now: { state: 'suspended', stateReason: stop },
        previous: { state: 'active', stateReason: null },
      },
    },
  }),
});

export { automationModel, probationMessage, type Automation } from './model.ts';
export {
  hostNamesOf,
  readHosts,
  scheduleName,
  scopesOf,
  settingsOf,
  subscriptionsOf,
  type CanFilter,
  type Compiling,
  type Hosts,
  type RuleSubscription,
} from './compile.ts';
export { isWithoutIssue, ruleOf, type Rule } from './shape.ts';
export { automationRoutes } from './routes.ts';
export type { RuleRuntime } from './runtime.ts';
export { changeTestOf, type ChangeTest } from './changes.ts';
