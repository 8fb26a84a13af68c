// Sample data of issues: a crash is reported, labeled, assigned and started.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import {
  ana,
  ben,
  dayAfter,
  engineering,
  sampleCycle,
  sampleId,
  sampleLabel,
  sampleProject,
  sampleState,
  timeAfter,
  type Samples,
} from '../../kernel/samples.ts';
import type { issue } from './contract.ts';

const todo = { id: sampleId('wfs'), name: 'Todo', type: 'unstarted' } as const;
const triage = { id: sampleId('wfs', 3), name: 'Triage', type: 'triage' };
const backlog = { id: sampleId('wfs', 4), name: 'Backlog', type: 'backlog' };
const canceled = { id: sampleId('wfs', 5), name: 'Canceled', type: 'canceled' };
const crash = { id: sampleId('lbl', 2), name: 'crash' };
const support = { id: '019b0000-0000-7000-8000-000000000003', key: 'SUP', name: 'Support' };

export const issueSamples: Samples = ({ nowMs, baseUrl }) => {
  const [before, now] = [timeAfter(nowMs, -2), timeAfter(nowMs, 0)];
  return {
    objects: {
      issue: {
        id: sampleId('iss'),
        identifier: 'ENG-42',
        number: 42,
        title: 'The save dialog crashes when the disk is full',
        description: 'Steps: fill the disk, press **Save**.\n\nExpected: an error that says so.',
        state: todo,
        priority: 'high',
        assignee: ana,
        creator: { kind: 'user', ...ben },
        team: engineering,
        labels: [sampleLabel],
        fields: { severity: 'high' },
        project: sampleProject,
        milestone: { id: sampleId('mil'), name: 'Beta' },
        parent: null,
        subOrder: null,
        snoozedUntil: null,
        startedAt: null,
        completedAt: null,
        canceledAt: null,
        estimate: 3,
        cycle: sampleCycle,
        dueDate: dayAfter(nowMs, 9),
        slaDueAt: timeAfter(nowMs, 1),
        externalSource: null,
        externalId: null,
        url: `${baseUrl}/issues/ENG-42`,
      } satisfies Partial<EntityResponse<typeof issue>>,
    },
    moments: {
      'issue.created': { now: { assignee: null, labels: [] } },
      'issue.deleted': { now: { deletedAt: now }, previous: { deletedAt: null } },
      'issue.restored': { previous: { deletedAt: before } },
      'issue.updated': { now: { priority: 'urgent' }, previous: { priority: 'high' } },
      'issue.state_changed': { now: { state: sampleState }, previous: { state: todo } },
      'issue.assigned': { now: { assignee: ana }, previous: { assignee: null } },
      'issue.labeled': { now: { labels: [sampleLabel, crash] }, previous: { labels: [sampleLabel] } },
      'issue.moved': { previous: { identifier: 'SUP-7', number: 7, team: support } },
      'issue.triage_accepted': { now: { state: backlog }, previous: { state: triage } },
      'issue.triage_declined': { now: { state: canceled }, previous: { state: triage } },
    },
  };
};
