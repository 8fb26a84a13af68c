// Views: filters, sorts and layouts of issues that people keep under a name, for themselves or for all.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { actor, choice, json, markdown, string, text } from '../../contract/field.ts';
import { columnGrouping } from '../boards/contract.ts';

const issueFilter = Type.Record(Type.String(), Type.Unknown(), {
  description: 'A filter tree, as in the list of issues; `{}` lets all pass.',
});

export const view = defineContract({
  name: 'view',
  path: 'views',
  title: 'View',
  id: 'viw',
  doc: 'A filter of issues under a name, with how they are sorted and laid out.',
  fields: {
    // The events of a personal view do not tell what it is, so that the log may say less than the object.
    name: text({ max: 120, required: true, unlogged: true, doc: 'What it is called.' }),
    description: markdown({ max: 65_536, default: '', unlogged: true, doc: 'What it is for.' }),
    filter: json(issueFilter, { default: {}, unlogged: true, doc: 'Which issues it shows.' }),
    sort: text({
      max: 100,
      nullable: true,
      unlogged: true,
      doc: 'How they are sorted, such as `-priority,updatedAt`; null for newest first.',
    }),
    layout: choice(['list', 'board', 'timeline', 'calendar'], {
      default: 'list',
      unlogged: true,
      doc: 'How programs lay them out.',
    }),
    groupBy: string(columnGrouping, {
      nullable: true,
      unlogged: true,
      doc: 'What they are grouped by where they are laid out, as boards are; null for nothing.',
    }),
    visibility: choice(['personal', 'shared'], {
      default: 'personal',
      filter: true,
      doc: 'Whether only its owner sees it, or everybody who reads views.',
    }),
    owner: actor({ filter: true, doc: 'Who made it.' }),
  },
  undo: 'values',
  operations: {
    list: "List shared views and one's own, oldest first",
    create: 'Create a view',
    get: 'Get a view',
    update: { summary: 'Change a view', errors: ['forbidden'] },
    delete: 'Delete a view; it can be restored',
    restore: 'Restore a deleted view',
  },
  events: {
    created: 'view.created',
    updated: 'view.updated',
    deleted: 'view.deleted',
    restored: 'view.restored',
  },
  keepsDeleted: true,
  calls: ['list', 'get'],
  examples: {
    create: { name: 'Urgent', filter: { priority: 'urgent' }, sort: '-updatedAt', visibility: 'shared' },
    update: { layout: 'board', groupBy: 'state' },
  },
});
