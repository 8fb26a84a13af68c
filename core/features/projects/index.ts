import { equal, idsOf } from '../../kernel/checks.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { ana, ben, dayAfter, sampleProject, timeAfter } from '../../kernel/samples.ts';
import { projects as resource } from './projects.ts';
import type { project } from './contract.ts';

export const projects = defineFeature({
  name: 'projects',
  resources: [resource],
  samples: ({ nowMs }) => ({
    objects: {
      project: {
        ...sampleProject,
        description: 'No data is lost when the disk is full.',
        status: 'started',
        health: 'on_track',
        lead: ana,
        members: [ana, ben],
        startDate: dayAfter(nowMs, -20),
        targetDate: dayAfter(nowMs, 40),
        icon: '📝',
        color: '#0e8a16',
        archivedAt: null,
      } satisfies Partial<EntityResponse<typeof project>>,
    },
    moments: {
      'project.updated': { now: { health: 'at_risk' }, previous: { health: 'on_track' } },
      'project.archived': { now: { archivedAt: timeAfter(nowMs, 0) }, previous: { archivedAt: null } },
      'project.unarchived': { previous: { archivedAt: timeAfter(nowMs, -2) } },
      'project.deleted': { now: { deletedAt: timeAfter(nowMs, 0) }, previous: { deletedAt: null } },
      'project.restored': { previous: { deletedAt: timeAfter(nowMs, -2) } },
    },
  }),
  facts: {
    project: () => [equal('members', 'members_json', ({ members }) => idsOf(members))],
  },
});

export { projectModel, requireProject } from './model.ts';
