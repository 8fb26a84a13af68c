import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { ben, sampleId, sampleIssue } from '../../kernel/samples.ts';
import type { favorite } from './contract.ts';
import { favorites } from './favorites.ts';
import { PreferencesEvent, preferencesRoutes } from './preferences.ts';

export const preferences = defineFeature({
  name: 'preferences',
  resources: [favorites],
  routes: preferencesRoutes,
  events: { 'preferences.updated': PreferencesEvent },
  samples: () => ({
    objects: {
      favorite: {
        id: sampleId('fav'),
        member: ben,
        type: 'issue',
        targetId: sampleIssue.id,
        title: null,
        identifier: null,
        url: null,
        position: 2,
      } satisfies Partial<EntityResponse<typeof favorite>>,
      'preferences.updated': {
        member: ben,
        theme: 'dark',
        density: 'compact',
        singleKeyShortcuts: true,
        startPage: 'inbox',
      },
    },
    moments: {
      'preferences.favorite_moved': { previous: { position: 5 } },
    },
  }),
});
