// Updates of projects: how one stands, in words and in one word.
import { defineContract } from '../../contract/contract.ts';
import { actor, choice, markdown, reference } from '../../contract/field.ts';
import { healths, project } from '../projects/contract.ts';

export const projectUpdate = defineContract({
  name: 'project_update',
  path: 'project-updates',
  scope: 'projects',
  title: 'StatusUpdate',
  id: 'upd',
  doc: 'How a project stands, as somebody told it on a day.',
  parent: project,
  fields: {
    project: reference(project, { write: 'never', filter: true, doc: 'The project that it is about.' }),
    health: choice(healths, {
      required: true,
      write: 'create',
      filter: true,
      doc: 'Whether the project will reach its goal. The project shows it from then on.',
    }),
    body: markdown({ bytesMax: 65_536, required: true, doc: 'How it stands.' }),
    author: actor({ filter: true, doc: 'Who said it.' }),
  },
  undo: 'values',
  operations: {
    list: 'List the updates of a project, newest first',
    create: 'Post an update of a project, which sets its health',
    get: 'Get an update of a project',
    update: { summary: "Change the text of an update of one's own", errors: ['forbidden'] },
    delete: {
      summary: "Delete an update of one's own; the project keeps its health",
      errors: ['forbidden'],
    },
  },
  order: 'newest',
  events: {
    created: 'project.update_posted',
    updated: 'project.update_edited',
    deleted: 'project.update_deleted',
  },
  keepsDeleted: true,
  calls: ['list', 'create'],
  examples: {
    create: { health: 'at_risk', body: 'The importer takes longer than we thought.' },
    update: { body: 'The importer takes a week longer than we thought.' },
  },
});
