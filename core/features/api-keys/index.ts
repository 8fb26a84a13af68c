import { defineFeature } from '../../kernel/feature.ts';
import { apiKeys as resource } from './api-keys.ts';
import { keyDelegation } from './handed.ts';
import { apiKeySamples } from './samples.ts';

export const apiKeys = defineFeature({
  name: 'api-keys',
  resources: [resource],
  delegation: keyDelegation,
  tagGroup: 'People and access',
  samples: apiKeySamples,
});
