import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { ben, sampleId, sampleProject } from '../../kernel/samples.ts';
import { projectUpdates as resource } from './project-updates.ts';
import type { projectUpdate } from './contract.ts';

export const projectUpdates = defineFeature({
  name: 'project-updates',
  resources: [resource],
  samples: () => ({
    objects: {
      project_update: {
        id: sampleId('upd'),
        project: sampleProject,
        health: 'at_risk',
        body: 'Full disks take **a week** longer than we thought.',
        author: { kind: 'user', ...ben },
      } satisfies Partial<EntityResponse<typeof projectUpdate>>,
    },
    moments: {
      'project.update_edited': { previous: { body: 'Full disks take longer than we thought.' } },
    },
  }),
});
