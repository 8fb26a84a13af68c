import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { referenceBy, string, text } from '../../kernel/contract/field.ts';
import { team } from '../teams/contract.ts';

const color = Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'A color as #rrggbb in lower case.' });

export const label = defineContract({
  name: 'label',
  path: 'labels',
  title: 'Label',
  id: 'lbl',
  names: { by: ['name'], within: 'team' },
  doc: 'Label for issues, of the whole workspace or of one team.',
  fields: {
    name: text({ max: 80, required: true, doc: 'Name of the label.' }),
    color: string(color, { default: '#8b949e', doc: 'Color of the label.' }),
    team: referenceBy(team, 'key', {
      nullable: true,
      write: 'create',
      doc: 'Team whose issues can have the label; null for all teams.',
    }),
  },
  undo: 'values',
  operations: {
    list: {
      summary: 'List labels',
      description:
        'With `team`, lists the labels available to issues of that team: its own and those of the workspace.',
    },
    create: 'Create a label',
    get: 'Get a label',
    update: 'Change a label',
    delete: 'Delete a label',
  },
  events: { created: 'label.created', updated: 'label.updated', deleted: 'label.deleted' },
  retainsDeleted: true,
  ofTeam: true,
  directory: { as: 'labels', entryFields: ['teamId', 'name'] },
  calls: ['list'],
  examples: { create: { name: 'regression', color: '#b60205' }, update: { color: '#0e8a16' } },
});
