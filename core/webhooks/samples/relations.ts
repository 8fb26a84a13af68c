// Sample data of triage, moves, relations and templates.
import type { EntityResponse } from '../../contract/contract.ts';
import type { template } from '../../tracker/templates/contract.ts';
import { idOf, type SampleScenario } from './fixtures.ts';

const triage = { id: idOf('wfs', 3), name: 'Triage', type: 'triage' };
const backlog = { id: idOf('wfs', 4), name: 'Backlog', type: 'backlog' };
const canceled = { id: idOf('wfs', 5), name: 'Canceled', type: 'canceled' };
const support = { id: '019b0000-0000-7000-8000-000000000003', key: 'SUP', name: 'Support' };

export const relationObjects: SampleScenario['objects'] = {
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

export const relationMoments: SampleScenario['moments'] = {
  'issue.relation_added': { now: { relation } },
  'issue.relation_removed': { now: { relation } },
  'issue.moved': { previous: { identifier: 'SUP-7', number: 7, team: support } },
  'issue.triage_accepted': { now: { state: backlog }, previous: { state: triage } },
  'issue.triage_declined': { now: { state: canceled }, previous: { state: triage } },
  'template.updated': { previous: { subIssues: ['Write a failing test'] } },
};
