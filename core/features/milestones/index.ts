import { defineFeature } from '../../kernel/feature.ts';
import { milestoneCompletion } from './completion.ts';
import { milestones as resource } from './milestones.ts';

export const milestones = defineFeature({
  name: 'milestones',
  resources: [resource],
  reactions: [milestoneCompletion],
});
