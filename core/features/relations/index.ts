import { defineFeature } from '../../kernel/feature.ts';
import { sampleId } from '../../kernel/samples.ts';
import { resource } from './operations.ts';

const relation = {
  id: sampleId('rln'),
  type: 'blocks',
  issue: { id: sampleId('iss', 2), identifier: 'ENG-43' },
};

export const relations = defineFeature({
  name: 'relations',
  resources: [resource],
  samples: () => ({
    moments: {
      'issue.relation_added': { now: { relation } },
      'issue.relation_removed': { now: { relation } },
    },
  }),
});
