import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { sampleId } from '../../kernel/samples.ts';
import { pipelines as resource } from './pipelines.ts';
import type { pipeline } from './contract.ts';

export const pipelines = defineFeature({
  name: 'pipelines',
  resources: [resource],
  samples: () => ({
    objects: {
      pipeline: {
        id: sampleId('pip'),
        name: 'Editor',
        type: 'scheduled',
        stages: ['planned', 'in_progress', 'staging', 'released'],
        team: 'ENG',
        repository: 'acme/editor',
      } satisfies Partial<EntityResponse<typeof pipeline>>,
    },
    moments: {
      'pipeline.updated': { previous: { stages: ['planned', 'staging', 'released'] } },
    },
  }),
});
