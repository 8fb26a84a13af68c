import { defineFeature } from '../../kernel/feature.ts';
import { resource } from './operations.ts';
import { cycleTimer } from './timer.ts';
import { cycleSamples } from './samples.ts';

export const cycles = defineFeature({
  name: 'cycles',
  resources: [resource],
  timers: [cycleTimer],
  samples: cycleSamples,
});

export { cycleModel } from './model.ts';
