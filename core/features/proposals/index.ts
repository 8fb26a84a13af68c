import { proposalFacts } from './checks.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { proposal } from './contract.ts';
import { expiryTimer, proposalsOfEnded } from './reactions.ts';
import { proposalModel } from './model.ts';
import { proposalSamples } from './samples.ts';

export const proposals = defineFeature({
  name: 'proposals',
  contracts: [proposal],
  models: [proposalModel],
  reactions: [proposalsOfEnded],
  timers: [expiryTimer],
  tagGroup: 'Plugins',
  samples: proposalSamples,
  facts: proposalFacts,
});

export {
  askAll,
  createWriteReplay,
  sourceOfRequests,
  principalIn,
  type ReplayOutcome,
  type Source,
} from './replay.ts';
export { classOf } from './diff.ts';
export { createPropose, makeProposal } from './make.ts';
export { proposalModel, type Proposal } from './model.ts';
export { forgetInProposals } from './forget.ts';
export { proposalRoutes } from './routes.ts';
