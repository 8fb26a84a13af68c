import { defineFeature } from '../../kernel/feature.ts';
import { cycles as resource } from './cycles.ts';
import { cycleTimer } from './timer.ts';
import { cycleSamples } from './samples.ts';

export const cycles = defineFeature({
  name: 'cycles',
  resources: [resource],
  timers: [cycleTimer],
  samples: cycleSamples,
});

export { cycleModel } from './model.ts';
