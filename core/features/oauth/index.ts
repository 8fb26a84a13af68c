import { defineFeature } from '../../kernel/feature.ts';
import { oauthApps } from './apps/oauth-apps.ts';
import { grants } from './grants/grants.ts';

export const oauth = defineFeature({
  name: 'oauth',
  resources: [oauthApps, grants],
  tagGroup: 'People and access',
});
