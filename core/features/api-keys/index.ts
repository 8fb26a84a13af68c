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

export { afterRevocation } from './handed.ts';
export { apiKeyModel, graceHoursMax, newKey, rollKey, type ApiKey } from './model.ts';
export { createFindKey, createResumeKey, publicPartOf } from './token.ts';
