import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { dayAfter, sampleId, sampleProject, timeAfter } from '../../kernel/samples.ts';
import { milestoneCompletion } from './completion.ts';
import { milestones as resource } from './milestones.ts';
import type { milestone } from './contract.ts';

export const milestones = defineFeature({
  name: 'milestones',
  resources: [resource],
  reactions: [milestoneCompletion],
  samples: ({ nowMs }) => ({
    objects: {
      milestone: {
        id: sampleId('mil'),
        name: 'Beta',
        description: 'Version for the first customers.',
        project: sampleProject,
        targetDate: dayAfter(nowMs, 20),
        position: 1,
        completedAt: null,
      } satisfies Partial<EntityResponse<typeof milestone>>,
    },
    moments: {
      'milestone.updated': { previous: { targetDate: dayAfter(nowMs, 13) } },
      'milestone.completed': { now: { completedAt: timeAfter(nowMs, 0) }, previous: { completedAt: null } },
    },
  }),
});
