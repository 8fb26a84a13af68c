// Views: named filters of issues with sort and layout, personal or shared.
import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { actor, choice, json, markdown, string, text, pageUrl } from '../../kernel/contract/field.ts';
import { columnGrouping } from '../boards/contract.ts';

const issueFilter = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Filter tree, as for the list of issues; `{}` matches all.',
});

export const view = defineContract({
  name: 'view',
  path: 'views',
  title: 'View',
  id: 'viw',
  doc: 'Named filter of issues, with sort and layout.',
  fields: {
    // Events of a personal view do not show its content, so the log may differ from the object.
    name: text({ max: 120, required: true, unlogged: true, doc: 'Name of the view.' }),
    description: markdown({ max: 65_536, default: '', unlogged: true, doc: 'Description of the view.' }),
    filter: json(issueFilter, {
      default: {},
      unlogged: true,
      doc: 'Filter for the issues that the view shows.',
    }),
    sort: text({
      max: 100,
      nullable: true,
      unlogged: true,
      doc: 'Sort of the issues, such as `-priority,updatedAt`; null for newest first.',
    }),
    layout: choice(['list', 'board', 'timeline', 'calendar'], {
      default: 'list',
      unlogged: true,
      doc: 'Layout of the issues.',
    }),
    groupBy: string(columnGrouping, {
      nullable: true,
      unlogged: true,
      doc: 'Field that issues are grouped by, as on boards; null for no grouping.',
    }),
    visibility: choice(['personal', 'shared'], {
      default: 'personal',
      filter: true,
      doc: 'Visibility of the view: `personal` for its owner only, `shared` for everyone who can read views.',
    }),
    owner: actor({ filter: true, doc: 'Owner of the view.' }),
    url: pageUrl('view'),
  },
  undo: 'values',
  operations: {
    list: 'List shared views and your own, oldest first',
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
  retainsDeleted: true,
  calls: ['list', 'get'],
  examples: {
    create: { name: 'Urgent', filter: { priority: 'urgent' }, sort: '-updatedAt', visibility: 'shared' },
    update: { layout: 'board', groupBy: 'state' },
  },
});
