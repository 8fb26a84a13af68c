// Fixtures of the samples: one consistent set of objects and events, similar to real data. A bug in an editor is
// reported, labeled, assigned, started, discussed and resolved.
import type { EntityResponse } from '../../../kernel/contract/contract.ts';
import type { apiKey } from '../../api-keys/contract.ts';
import type { member } from '../../people/members/contract.ts';
import type { workspace } from '../../people/workspace/contract.ts';
import type { comment } from '../../comments/contract.ts';
import type { issue } from '../../issues/contract.ts';
import type { label } from '../../labels/contract.ts';
import type { project } from '../../projects/contract.ts';
import type { team } from '../../teams/contract.ts';
import type { state } from '../../workflows/contract.ts';
import type { webhook } from '../endpoints/contract.ts';
import { guardedClasses } from '../../../platform/lib/guarded-classes.ts';
import { boardMoments, boardObjects } from './boards.ts';
import {
  ana,
  ben,
  dayOf,
  editor,
  engineering,
  idOf,
  timeOf,
  type SampleSetting,
  type SampleScenario,
  type SampleMoment,
} from './fixtures.ts';
import { inboxScenario } from './inbox.ts';
import { projectScenario } from './projects.ts';
import { pluginScenario } from './plugins.ts';
import { cycleMoments, cycleObjects, cycleReference } from './cycles.ts';
import { slaMoments, slaObjects } from './sla.ts';
import type { attachment } from '../../attachments/contract.ts';
import type { template } from '../../templates/contract.ts';

const bug = { id: idOf('lbl'), name: 'bug' };
const crash = { id: idOf('lbl', 2), name: 'crash' };
const todo = { id: idOf('wfs'), name: 'Todo', type: 'unstarted' } as const;
const inProgress = { id: idOf('wfs', 2), name: 'In Progress', type: 'started' } as const;
const hook = 'https://hooks.acme.example/tatami';

// Sample data: a file attached to the sample issue.

function attachmentMoments({ nowMs }: SampleSetting): Readonly<Record<string, SampleMoment>> {
  const at = new Date(nowMs).toISOString();
  const file: EntityResponse<typeof attachment> = {
    id: idOf('att'),
    issue: { id: idOf('iss'), identifier: 'ENG-42' },
    kind: 'file',
    title: 'crash.log',
    url: null,
    contentType: 'text/plain',
    bytes: 18_204,
    sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    creator: { kind: 'user', ...ana },
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  const moment: SampleMoment = { now: { attachment: file } };
  return { 'issue.attachment_added': moment, 'issue.attachment_removed': moment };
}

// Sample data of triage, moves, relations and templates.

const triage = { id: idOf('wfs', 3), name: 'Triage', type: 'triage' };
const backlog = { id: idOf('wfs', 4), name: 'Backlog', type: 'backlog' };
const canceled = { id: idOf('wfs', 5), name: 'Canceled', type: 'canceled' };
const support = { id: '019b0000-0000-7000-8000-000000000003', key: 'SUP', name: 'Support' };

const relationObjects: SampleScenario['objects'] = {
  template: {
    id: idOf('tpl'),
    name: 'Bug report',
    team: 'ENG',
    title: null,
    description: '## Steps\n\n## Expected',
    priority: 'high',
    assignee: null,
    project: null,
    labels: [{ id: idOf('lbl'), name: 'bug' }],
    estimate: null,
    fields: {},
    subIssues: ['Write a failing test', 'Fix it'],
  } satisfies Partial<EntityResponse<typeof template>>,
};

const relation = { id: idOf('rln'), type: 'blocks', issue: { id: idOf('iss', 2), identifier: 'ENG-43' } };

const relationMoments: SampleScenario['moments'] = {
  'issue.relation_added': { now: { relation } },
  'issue.relation_removed': { now: { relation } },
  'issue.moved': { previous: { identifier: 'SUP-7', number: 7, team: support } },
  'issue.triage_accepted': { now: { state: backlog }, previous: { state: triage } },
  'issue.triage_declined': { now: { state: canceled }, previous: { state: triage } },
  'template.updated': { previous: { subIssues: ['Write a failing test'] } },
};

export function scenarioOf(setting: SampleSetting): SampleScenario {
  const projects = projectScenario(setting);
  const inbox = inboxScenario(setting);
  const plugins = pluginScenario(setting);
  return {
    objects: {
      ...tracked(setting),
      ...relationObjects,
      ...cycleObjects(setting.nowMs),
      ...boardObjects,
      ...accessObjects(setting),
      ...systemEvents(setting),
      ...slaObjects(setting),
      ...projects.objects,
      ...inbox.objects,
      ...plugins.objects,
    },
    moments: {
      ...momentsOf(setting),
      ...relationMoments,
      ...cycleMoments(setting.nowMs),
      ...projects.moments,
      ...plugins.moments,
      ...attachmentMoments(setting),
      ...slaMoments(setting),
      ...inbox.moments,
    },
  };
}

/** Objects that issues refer to by name. */
const referencedObjects = {
  label: { ...bug, color: '#d73a4a', team: null } satisfies Partial<EntityResponse<typeof label>>,
  state: { ...inProgress, position: 2, team: 'ENG' } satisfies Partial<EntityResponse<typeof state>>,
  team: {
    ...engineering,
    transitions: {},
    triage: 'outside',
    timeZone: 'Europe/Zagreb',
    cycles: { weeks: 2, startsOn: 'monday', cooldownWeeks: 0, ahead: 2, rollsOver: true },
    archivedAt: null,
  } satisfies Partial<EntityResponse<typeof team>>,
};

function tracked({ nowMs, baseUrl }: SampleSetting) {
  return {
    issue: {
      id: idOf('iss'),
      identifier: 'ENG-42',
      number: 42,
      title: 'The save dialog crashes when the disk is full',
      description: 'Steps: fill the disk, press **Save**.\n\nExpected: an error that says so.',
      state: todo,
      priority: 'high',
      assignee: ana,
      creator: { kind: 'user', ...ben },
      team: engineering,
      labels: [bug],
      fields: { severity: 'high' },
      project: editor,
      milestone: { id: idOf('mil'), name: 'Beta' },
      parent: null,
      subOrder: null,
      snoozedUntil: null,
      startedAt: null,
      completedAt: null,
      canceledAt: null,
      estimate: 3,
      cycle: cycleReference,
      dueDate: dayOf(nowMs, 9),
      slaDueAt: timeOf(nowMs, 1),
      externalSource: null,
      externalId: null,
      url: `${baseUrl}/issues/ENG-42`,
    } satisfies Partial<EntityResponse<typeof issue>>,
    comment: {
      id: idOf('cmt'),
      issue: { id: idOf('iss'), identifier: 'ENG-42' },
      parentId: null,
      body: 'Seen on 2.4 as well, @Ben. The log says `ENOSPC`, and then nothing.',
      mentions: [ben],
      editedAt: null,
      author: { kind: 'user', ...ana },
      resolvedAt: null,
      resolvedBy: null,
    } satisfies Partial<EntityResponse<typeof comment>>,
    project: {
      ...editor,
      description: 'No data is lost when the disk is full.',
      status: 'started',
      health: 'on_track',
      lead: ana,
      members: [ana, ben],
      startDate: dayOf(nowMs, -20),
      targetDate: dayOf(nowMs, 40),
      icon: '📝',
      color: '#0e8a16',
      archivedAt: null,
    } satisfies Partial<EntityResponse<typeof project>>,
    ...referencedObjects,
  };
}

function accessObjects({ nowMs }: SampleSetting) {
  return {
    member: {
      ...ana,
      email: 'ana@acme.example',
      role: 'member',
      teams: [],
      joinedAt: null,
    } satisfies Partial<EntityResponse<typeof member>>,
    workspace: {
      id: '019b0000-0000-7000-8000-000000000002',
      name: 'Acme',
      publicTriage: null,
      guarded: [...guardedClasses],
    } satisfies Partial<EntityResponse<typeof workspace>>,
    api_key: {
      id: idOf('key'),
      name: 'Nightly import',
      prefix: 'HVR1PNbdHs',
      scopes: ['issues:read', 'issues:write'],
      member: ana,
      expiresAt: timeOf(nowMs, 90),
      revokedAt: null,
      lastUsedAt: timeOf(nowMs, -1),
      replacedBy: null,
    } satisfies Partial<EntityResponse<typeof apiKey>>,
    webhook: {
      id: idOf('whe'),
      url: hook,
      description: 'Notifies the person on call.',
      events: ['issue.created', 'comment.*'],
      filter: { priority: ['high', 'urgent'] },
      ordering: 'none',
      enabled: true,
      disabledReason: null,
      secretSince: timeOf(nowMs, -30),
      previousSecretExpiresAt: null,
      previousSecretLastSucceededAt: null,
    } satisfies Partial<EntityResponse<typeof webhook>>,
  };
}

/** Problems reported by the server. */
function systemEvents({ nowMs }: SampleSetting) {
  const problem = {
    kind: 'backup',
    message: 'The last backup of this server failed or is too old. The server administrator must check it.',
    since: timeOf(nowMs, -1),
  };
  return {
    'system.problem_raised': { ...problem, until: null },
    'system.problem_cleared': { ...problem, until: timeOf(nowMs, 0) },
  };
}

function momentsOf({ nowMs }: SampleSetting): SampleScenario['moments'] {
  const [before, now] = [timeOf(nowMs, -2), timeOf(nowMs, 0)];
  const why = { enabled: false, disabledReason: 'All deliveries have failed for 120 hours.' };
  return {
    ...boardMoments(before, now),
    'issue.created': { now: { assignee: null, labels: [] } },
    'issue.deleted': { now: { deletedAt: now }, previous: { deletedAt: null } },
    'issue.restored': { previous: { deletedAt: before } },
    'issue.updated': { now: { priority: 'urgent' }, previous: { priority: 'high' } },
    'issue.state_changed': { now: { state: inProgress }, previous: { state: todo } },
    'issue.assigned': { now: { assignee: ana }, previous: { assignee: null } },
    'issue.labeled': { now: { labels: [bug, crash] }, previous: { labels: [bug] } },
    'comment.updated': {
      now: { editedAt: now },
      previous: { body: 'Seen on 2.4 as well.', mentions: [], editedAt: null },
    },
    'comment.resolved': {
      now: { resolvedAt: now, resolvedBy: { kind: 'user', ...ben } },
      previous: { resolvedAt: null, resolvedBy: null },
    },
    'comment.unresolved': { previous: { resolvedAt: before, resolvedBy: { kind: 'user', ...ben } } },
    'project.updated': { now: { health: 'at_risk' }, previous: { health: 'on_track' } },
    'label.updated': { previous: { name: 'defect' } },
    'workflow.state_updated': { previous: { name: 'Doing' } },
    'team.updated': { previous: { name: 'Development' } },
    'team.archived': { now: { archivedAt: now }, previous: { archivedAt: null } },
    'team.unarchived': { previous: { archivedAt: before } },
    'member.updated': { now: { role: 'admin' }, previous: { role: 'member' } },
    'workspace.updated': { previous: { name: 'Acme Editors' } },
    'api_key.created': { now: { lastUsedAt: null, replacedBy: null } },
    'api_key.rolled': {
      now: { expiresAt: timeOf(nowMs, 1), lastUsedAt: before, replacedBy: idOf('key', 2) },
      previous: { expiresAt: timeOf(nowMs, 90), replacedBy: null },
    },
    'api_key.revoked': {
      now: { revokedAt: now, lastUsedAt: before, replacedBy: null },
      previous: { revokedAt: null },
    },
    'webhook.updated': { previous: { events: ['issue.created'] } },
    'webhook.disabled': { now: why, previous: { enabled: true, disabledReason: null } },
    'webhook.secret_rotated': {
      now: {
        secretSince: now,
        previousSecretExpiresAt: timeOf(nowMs, 1),
        previousSecretLastSucceededAt: before,
      },
      previous: {
        secretSince: timeOf(nowMs, -30),
        previousSecretExpiresAt: null,
        previousSecretLastSucceededAt: null,
      },
    },
  };
}
