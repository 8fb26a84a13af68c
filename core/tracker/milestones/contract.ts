// Milestones: steps of a project, in an order, each with a day.
import { defineContract } from '../../contract/contract.ts';
import { day, markdown, number, reference, text, time } from '../../contract/field.ts';
import { project } from '../projects/contract.ts';

export const positionMax = 1_000_000;

export const milestone = defineContract({
  name: 'milestone',
  path: 'milestones',
  scope: 'projects',
  title: 'Milestone',
  id: 'mil',
  names: { by: ['name'], within: 'project' },
  doc: 'A step of a project, which is done when its issues are.',
  parent: project,
  fields: {
    name: text({ max: 120, required: true, doc: 'What it is called.' }),
    description: markdown({ max: 65_536, default: '', doc: 'What is to be reached.' }),
    project: reference(project, { write: 'never', filter: true, doc: 'The project that it is a step of.' }),
    targetDate: day({ nullable: true, doc: 'The day by which it is to be reached.' }),
    position: number(
      { minimum: 0, maximum: positionMax },
      {
        default: 0,
        doc: 'Its place among the milestones of the project; between two others with a number between theirs. Left out: the last.',
      },
    ),
    completedAt: time({
      nullable: true,
      write: 'never',
      doc: 'When the last of its issues was done; null while one is open, and where none was completed.',
    }),
  },
  undo: 'values',
  operations: {
    list: 'List the milestones of a project, in their order',
    create: 'Add a milestone to a project',
    get: 'Get a milestone',
    update: 'Change a milestone, or move it among the others',
    delete: {
      summary: 'Delete a milestone',
      description: 'Its issues stay in the project. With more than 500 issues it is refused.',
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
  keepsDeleted: true,
  directory: { as: 'milestones', keeps: ['name', 'projectId'], withDeleted: true },
  calls: ['get', 'list', 'create', 'update'],
  examples: {
    create: { name: 'Beta', targetDate: '2027-02-01' },
    update: { targetDate: '2027-02-15' },
  },
});
