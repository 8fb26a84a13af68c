// What samples tell of projects and releases: the editor's next version slips, is mended, goes out and comes back.
import type { Shown } from '../../contract/contract.ts';
import type { milestone } from '../../tracker/milestones/contract.ts';
import type { pipeline } from '../../tracker/pipelines/contract.ts';
import type { projectUpdate } from '../../tracker/project-updates/contract.ts';
import type { release } from '../../tracker/releases/contract.ts';
import type { Story } from './cast.ts';

interface Cast {
  readonly idOf: (prefix: string) => string;
  readonly ben: { readonly id: string; readonly name: string };
  readonly project: { readonly id: string; readonly name: string };
  /** Days from now. */
  readonly day: (days: number) => string;
  readonly time: (days: number) => string;
}

export function projectStory(cast: Cast): Story {
  return { objects: objectsOf(cast), moments: momentsOf(cast) };
}

function objectsOf({ idOf, ben, project, day }: Cast): Story['objects'] {
  return {
    project_update: {
      id: idOf('upd'),
      project,
      health: 'at_risk',
      body: 'Full disks take **a week** longer than we thought.',
      author: { kind: 'user', ...ben },
    } satisfies Partial<Shown<typeof projectUpdate>>,
    milestone: {
      id: idOf('mil'),
      name: 'Beta',
      description: 'What the first customers see.',
      project,
      targetDate: day(20),
      position: 1,
      completedAt: null,
    } satisfies Partial<Shown<typeof milestone>>,
    pipeline: {
      id: idOf('pip'),
      name: 'Editor',
      type: 'scheduled',
      stages: ['planned', 'in_progress', 'staging', 'released'],
      team: 'ENG',
      repository: 'acme/editor',
    } satisfies Partial<Shown<typeof pipeline>>,
    release: {
      id: idOf('rel'),
      name: 'Spring',
      tag: '2.5.0',
      pipeline: { id: idOf('pip'), name: 'Editor' },
      stage: 'staging',
      status: 'in_progress',
      targetDate: day(40),
      notes: '## Fixes\n\n- The editor says so when the disk is full.\n',
      issueIds: [idOf('iss')],
      publishedAt: null,
      rolledBackAt: null,
      rollbackReason: null,
    } satisfies Partial<Shown<typeof release>>,
  };
}

function momentsOf({ day, time }: Cast): Story['moments'] {
  const published = { status: 'published', stage: 'released', publishedAt: time(0) };
  const reason = 'Saving loses comments.';
  const back = { status: 'rolled_back', rolledBackAt: time(0), rollbackReason: reason };
  return {
    'project.archived': { now: { archivedAt: time(0) }, previous: { archivedAt: null } },
    'project.unarchived': { previous: { archivedAt: time(-2) } },
    'project.update_edited': { previous: { body: 'Full disks take longer than we thought.' } },
    'milestone.updated': { previous: { targetDate: day(13) } },
    'milestone.completed': { now: { completedAt: time(0) }, previous: { completedAt: null } },
    'pipeline.updated': { previous: { stages: ['planned', 'staging', 'released'] } },
    'release.updated': { previous: { stage: 'in_progress' } },
    'release.published': {
      now: published,
      previous: { status: 'in_progress', stage: 'staging', publishedAt: null },
    },
    'release.rolled_back': {
      now: { ...published, publishedAt: time(-2), ...back },
      previous: { status: 'published', rolledBackAt: null, rollbackReason: null },
    },
  };
}
