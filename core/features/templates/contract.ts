import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, json, markdown, number, reference, referenceBy, text } from '../../kernel/contract/field.ts';
import { member } from '../people/contract.ts';
import { idAndName, idOf, line } from '../../platform/lib/schema.ts';
import { descriptionBytesMax, labelNames, priorities } from '../issues/contract.ts';
import { fieldsInput, fieldsResponse } from '../fields/contract.ts';
import { project } from '../projects/contract.ts';
import { team } from '../teams/contract.ts';

const subIssues = Type.Array(line(500), { maxItems: 50, description: 'Titles, up to 50.' });

export const template = defineContract({
  name: 'template',
  path: 'templates',
  scope: 'issues',
  title: 'Template',
  id: 'tpl',
  names: { by: ['name'], within: 'team' },
  doc: 'Template for new issues.',
  fields: {
    name: text({ max: 80, required: true, doc: 'Name of the template.' }),
    team: referenceBy(team, 'key', {
      nullable: true,
      write: 'create',
      doc: 'Team whose issues can use the template; null for all teams.',
    }),
    title: text({
      max: 500,
      nullable: true,
      doc: 'Title that clients can suggest for new issues; not set by the server.',
    }),
    description: markdown({
      bytesMax: descriptionBytesMax,
      default: '',
      doc: 'Initial description of the issue.',
    }),
    priority: choice(priorities, { default: 'none', doc: 'Priority of the issue.' }),
    assignee: reference(member, { nullable: true, doc: 'Assignee of the issue.' }),
    project: reference(project, { nullable: true, doc: 'Project of the issue.' }),
    labels: json(
      labelNames,
      { default: [], doc: 'Labels of the issue.' },
      Type.Array(idAndName(idOf('lbl'), 'the label')),
    ),
    estimate: number({ minimum: 0, maximum: 10_000 }, { nullable: true, doc: 'Estimate of the issue.' }),
    fields: json(fieldsInput, { default: {}, doc: 'Values of custom fields of the issue.' }, fieldsResponse),
    subIssues: json(subIssues, { default: [], doc: 'Titles of sub-issues that are created with the issue.' }),
  },
  undo: 'values',
  operations: {
    list: {
      summary: 'List templates',
      description: 'With `team`, lists the templates for issues of that team.',
    },
    create: 'Create a template',
    get: 'Get a template',
    update: 'Change a template',
    delete: 'Delete a template',
  },
  events: { created: 'template.created', updated: 'template.updated', deleted: 'template.deleted' },
  retainsDeleted: true,
  ofTeam: true,
  calls: ['list', 'get'],
  examples: {
    create: { name: 'Bug report', team: 'ENG', description: '## Steps\n\n## Expected', priority: 'high' },
    update: { subIssues: ['Write a failing test', 'Fix the bug'] },
  },
});
