// Templates: what issues of one sort begin with.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, json, markdown, number, reference, referenceBy, text } from '../../contract/field.ts';
import { member } from '../../identity/members/contract.ts';
import { idAndName, idOf, line } from '../../lib/schema.ts';
import { descriptionBytesMax, labelNames, priorities } from '../issues/contract.ts';
import { fieldsGiven, fieldsShown } from '../fields/contract.ts';
import { project } from '../projects/contract.ts';
import { team } from '../teams/contract.ts';

const subIssues = Type.Array(line(500), { maxItems: 50, description: 'Up to 50 titles.' });

export const template = defineContract({
  name: 'template',
  path: 'templates',
  scope: 'issues',
  title: 'Template',
  id: 'tpl',
  names: { by: ['name'], within: 'team' },
  doc: 'What issues of one sort begin with.',
  fields: {
    name: text({ max: 80, required: true, doc: 'What it is called.' }),
    team: referenceBy(team, 'key', {
      nullable: true,
      write: 'create',
      doc: 'The team whose issues it is for, by its key; null for those of all.',
    }),
    title: text({ max: 500, nullable: true, doc: 'A title that forms propose; a creation says its own.' }),
    description: markdown({
      bytesMax: descriptionBytesMax,
      default: '',
      doc: 'What the description begins with.',
    }),
    priority: choice(priorities, { default: 'none', doc: 'How much such issues press.' }),
    assignee: reference(member, { nullable: true, doc: 'Who works on them.' }),
    project: reference(project, { nullable: true, doc: 'The project that they are part of.' }),
    labels: json(
      labelNames,
      { default: [], doc: 'Their labels.' },
      Type.Array(idAndName(idOf('lbl'), 'the label')),
    ),
    estimate: number({ minimum: 0, maximum: 10_000 }, { nullable: true, doc: 'How much work they are.' }),
    fields: json(fieldsGiven, { default: {}, doc: 'What they say in custom fields.' }, fieldsShown),
    subIssues: json(subIssues, { default: [], doc: 'The titles of sub-issues that are made along.' }),
  },
  undo: 'values',
  operations: {
    list: { summary: 'List templates', description: 'With `team`, those for issues of that team.' },
    create: 'Create a template',
    get: 'Get a template',
    update: 'Change a template',
    delete: 'Delete a template',
  },
  events: { created: 'template.created', updated: 'template.updated', deleted: 'template.deleted' },
  keepsDeleted: true,
  ofTeam: true,
  calls: ['list', 'get'],
  examples: {
    create: { name: 'Bug report', team: 'ENG', description: '## Steps\n\n## Expected', priority: 'high' },
    update: { subIssues: ['Write a failing test', 'Mend it'] },
  },
});
