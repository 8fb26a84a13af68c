import { defineContract } from '../../kernel/contract/contract.ts';
import { actor, choice, markdown, reference } from '../../kernel/contract/field.ts';
import { healths, project } from '../projects/contract.ts';

export const projectUpdate = defineContract({
  name: 'project_update',
  path: 'project-updates',
  scope: 'projects',
  title: 'StatusUpdate',
  id: 'upd',
  doc: 'Status update of a project.',
  parent: project,
  fields: {
    project: reference(project, { write: 'never', filter: true, doc: 'Project of the update.' }),
    health: choice(healths, {
      required: true,
      write: 'create',
      filter: true,
      doc: 'Health of the project, which is set on the project as well.',
    }),
    body: markdown({ bytesMax: 65_536, required: true, doc: 'Text of the update.' }),
    author: actor({ filter: true, doc: 'Author of the update.' }),
  },
  undo: 'values',
  operations: {
    list: 'List the updates of a project, newest first',
    create: 'Post an update of a project, which sets its health',
    get: 'Get an update of a project',
    update: { summary: 'Change the text of your project update', errors: ['forbidden'] },
    delete: {
      summary: 'Delete your project update; the project keeps its health',
      errors: ['forbidden'],
    },
  },
  order: 'newest',
  events: {
    created: 'project.update_posted',
    updated: 'project.update_edited',
    deleted: 'project.update_deleted',
  },
  retainsDeleted: true,
  calls: ['list', 'create'],
  examples: {
    create: { health: 'at_risk', body: 'The importer takes longer than we thought.' },
    update: { body: 'The importer takes a week longer than we thought.' },
  },
});
