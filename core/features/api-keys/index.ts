import { defineFeature } from '../../kernel/feature.ts';
import { apiKeys as resource } from './api-keys.ts';
import { apiKeySamples } from './samples.ts';

export const apiKeys = defineFeature({
  name: 'api-keys',
  resources: [resource],
  tagGroup: 'People and access',
  samples: apiKeySamples,
});
