// Sample data of projects and releases: the editor's next version is delayed, fixed, released and rolled
// back.
import type { EntityResponse } from '../../../kernel/contract/contract.ts';
import type { milestone } from '../../milestones/contract.ts';
import type { pipeline } from '../../pipelines/contract.ts';
import type { projectUpdate } from '../../project-updates/contract.ts';
import type { release } from '../../releases/contract.ts';
import { ben, dayOf, editor, idOf, timeOf, type SampleSetting, type SampleScenario } from './fixtures.ts';

export function projectScenario({ nowMs }: SampleSetting): SampleScenario {
  return { objects: objectsOf(nowMs), moments: momentsOf(nowMs) };
}

function objectsOf(nowMs: number): SampleScenario['objects'] {
  return {
    project_update: {
      id: idOf('upd'),
      project: editor,
      health: 'at_risk',
      body: 'Full disks take **a week** longer than we thought.',
      author: { kind: 'user', ...ben },
    } satisfies Partial<EntityResponse<typeof projectUpdate>>,
    milestone: {
      id: idOf('mil'),
      name: 'Beta',
      description: 'Version for the first customers.',
      project: editor,
      targetDate: dayOf(nowMs, 20),
      position: 1,
      completedAt: null,
    } satisfies Partial<EntityResponse<typeof milestone>>,
    pipeline: {
      id: idOf('pip'),
      name: 'Editor',
      type: 'scheduled',
      stages: ['planned', 'in_progress', 'staging', 'released'],
      team: 'ENG',
      repository: 'acme/editor',
    } satisfies Partial<EntityResponse<typeof pipeline>>,
    release: {
      id: idOf('rel'),
      name: 'Spring',
      tag: '2.5.0',
      pipeline: { id: idOf('pip'), name: 'Editor' },
      stage: 'staging',
      status: 'in_progress',
      targetDate: dayOf(nowMs, 40),
      notes: '## Fixes\n\n- The editor says so when the disk is full.\n',
      issueIds: [idOf('iss')],
      publishedAt: null,
      rolledBackAt: null,
      rollbackReason: null,
    } satisfies Partial<EntityResponse<typeof release>>,
  };
}

function momentsOf(nowMs: number): SampleScenario['moments'] {
  const published = { status: 'published', stage: 'released', publishedAt: timeOf(nowMs, 0) };
  const reason = 'Saving loses comments.';
  const back = { status: 'rolled_back', rolledBackAt: timeOf(nowMs, 0), rollbackReason: reason };
  return {
    'project.archived': { now: { archivedAt: timeOf(nowMs, 0) }, previous: { archivedAt: null } },
    'project.unarchived': { previous: { archivedAt: timeOf(nowMs, -2) } },
    'project.deleted': { now: { deletedAt: timeOf(nowMs, 0) }, previous: { deletedAt: null } },
    'project.restored': { previous: { deletedAt: timeOf(nowMs, -2) } },
    'project.update_edited': { previous: { body: 'Full disks take longer than we thought.' } },
    'milestone.updated': { previous: { targetDate: dayOf(nowMs, 13) } },
    'milestone.completed': { now: { completedAt: timeOf(nowMs, 0) }, previous: { completedAt: null } },
    'pipeline.updated': { previous: { stages: ['planned', 'staging', 'released'] } },
    'release.updated': { previous: { stage: 'in_progress' } },
    'release.published': {
      now: published,
      previous: { status: 'in_progress', stage: 'staging', publishedAt: null },
    },
    'release.rolled_back': {
      now: { ...published, publishedAt: timeOf(nowMs, -2), ...back },
      previous: { status: 'published', rolledBackAt: null, rollbackReason: null },
    },
  };
}
