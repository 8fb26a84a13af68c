// Projects: work with a goal and a date, across teams.
import { defineContract } from '../../contract/contract.ts';
import { choice, day, markdown, reference, text } from '../../contract/field.ts';
import { member } from '../../identity/members/contract.ts';

export const project = defineContract({
  name: 'project',
  path: 'projects',
  title: 'Project',
  id: 'prj',
  doc: 'Work with a goal and a date, across teams.',
  fields: {
    name: text({ max: 120, required: true, doc: 'What it is called.' }),
    description: markdown({ max: 65_536, default: '', doc: 'What it is for.' }),
    status: choice(['backlog', 'planned', 'started', 'paused', 'completed', 'canceled'], {
      default: 'backlog',
      filter: true,
      doc: 'How far it has come.',
    }),
    health: choice(['on_track', 'at_risk', 'off_track'], {
      nullable: true,
      doc: 'Whether it will reach its goal; null where nobody has said.',
    }),
    lead: reference(member, { nullable: true, doc: 'Who leads it.' }),
    startDate: day({ nullable: true, doc: 'The day on which it begins.' }),
    targetDate: day({ nullable: true, doc: 'The day on which it is to be reached.' }),
  },
  operations: {
    list: 'List projects, newest first',
    create: 'Create a project',
    get: 'Get a project',
    update: 'Change a project',
  },
  order: 'newest',
  events: { created: 'project.created', updated: 'project.updated' },
  directory: { as: 'projects', keeps: ['name'] },
  calls: ['get', 'list'],
  examples: {
    create: { name: 'Spring release', status: 'planned', targetDate: '2027-03-01' },
    update: { status: 'started', health: 'on_track' },
  },
});
