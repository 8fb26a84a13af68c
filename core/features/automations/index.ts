import { defineFeature } from '../../kernel/feature.ts';
import { automation } from './contract.ts';
import { automationModel } from './model.ts';

export const automations = defineFeature({
  name: 'automations',
  contracts: [automation],
  models: [automationModel],
  tagGroup: 'Plugins',
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
  type Hosts,
  type RuleSubscription,
} from './compile.ts';
export { ruleOf, type Rule } from './shape.ts';
export { automationRoutes } from './routes.ts';
export type { RuleRuntime } from './runtime.ts';
export { changeTestOf, type ChangeTest } from './changes.ts';
