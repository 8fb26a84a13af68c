import { defineFeature } from '../../kernel/feature.ts';
import { proposal } from './contract.ts';
import { expiryTimer, proposalsOfEnded } from './ends.ts';

export const proposals = defineFeature({
  name: 'proposals',
  contracts: [proposal],
  reactions: [proposalsOfEnded],
  timers: [expiryTimer],
  tagGroup: 'Plugins',
});
