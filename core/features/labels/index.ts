import { createLeaving } from './leaving.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { sampleLabel } from '../../kernel/samples.ts';
import { labels as resource } from './labels.ts';
import type { label } from './contract.ts';

export const labels = defineFeature({
  name: 'labels',
  resources: [resource],
  samples: () => ({
    objects: {
      label: { ...sampleLabel, color: '#d73a4a', team: null } satisfies Partial<EntityResponse<typeof label>>,
    },
    moments: {
      'label.updated': { previous: { name: 'defect' } },
    },
  }),
  workers: [createLeaving],
});

export { defaultLabels, labelModel } from './labels.ts';
