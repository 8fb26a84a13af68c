import { issueOfFact } from '../../kernel/checks.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { slaClocks, slaReaction } from './operations.ts';
import { slaTimer } from './timer.ts';
import { slaSamples } from './samples.ts';

export const sla = defineFeature({
  name: 'sla',
  resources: [slaClocks],
  reactions: [slaReaction],
  timers: [slaTimer],
  samples: slaSamples,
  facts: {
    sla_clock: () => [issueOfFact()],
  },
});
