import { defineContract } from '../../kernel/contract/contract.ts';
import { day, markdown, number, reference, text, time } from '../../kernel/contract/field.ts';
import { project } from '../projects/contract.ts';

export const positionMax = 1_000_000;

export const milestone = defineContract({
  name: 'milestone',
  path: 'milestones',
  scope: 'projects',
  title: 'Milestone',
  id: 'mil',
  names: { by: ['name'], within: 'project' },
  doc: 'Step of a project, completed when its issues are done.',
  parent: project,
  fields: {
    name: text({ max: 120, required: true, doc: 'Name of the milestone.' }),
    description: markdown({ max: 65_536, default: '', doc: 'Goal of the milestone.' }),
    project: reference(project, { write: 'never', filter: true, doc: 'Project of the milestone.' }),
    targetDate: day({ nullable: true, doc: 'Target date of the milestone.' }),
    position: number(
      { minimum: 0, maximum: positionMax },
      {
        default: 0,
        doc: 'Position among the milestones of the project; a number between those of two others places it between them. Default: last.',
      },
    ),
    completedAt: time({
      nullable: true,
      write: 'never',
      doc: 'Time at which the last issue was done; null while an issue is open, and if none was completed.',
    }),
  },
  undo: 'values',
  operations: {
    list: 'List the milestones of a project, in order',
    create: 'Add a milestone to a project',
    get: 'Get a milestone',
    update: 'Change a milestone, or move it among the others',
    delete: {
      summary: 'Delete a milestone',
      description: 'Issues stay in the project. A milestone with more than 500 issues is refused.',
      errors: ['conflict'],
    },
  },
  order: ['position'],
  events: {
    created: 'milestone.created',
    updated: 'milestone.updated',
    deleted: 'milestone.deleted',
    other: ['milestone.completed'],
  },
  retainsDeleted: true,
  directory: { as: 'milestones', entryFields: ['name', 'projectId'], withDeleted: true },
  calls: ['get', 'list', 'create', 'update'],
  examples: {
    create: { name: 'Beta', targetDate: '2027-02-01' },
    update: { targetDate: '2027-02-15' },
  },
});
