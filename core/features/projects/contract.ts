import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import {
  choice,
  day,
  idOrName,
  json,
  markdown,
  reference,
  string,
  text,
  time,
  pageUrl,
} from '../../kernel/contract/field.ts';
import { member } from '../people/contract.ts';
import { idAndName, idOf } from '../../platform/lib/schema.ts';

export const healths = ['on_track', 'at_risk', 'off_track'] as const;
const color = Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'A color as #rrggbb in lower case.' });
const members = Type.Array(idOrName(member), {
  maxItems: 100,
  uniqueItems: true,
  description: 'Up to 100 ids, e-mail addresses or names, or `me`.',
});

export const project = defineContract({
  name: 'project',
  path: 'projects',
  title: 'Project',
  id: 'prj',
  names: { by: ['name'] },
  doc: 'Work with a goal and a target date, across teams.',
  fields: {
    name: text({ max: 120, required: true, filter: true, doc: 'Name of the project.' }),
    description: markdown({ max: 65_536, default: '', doc: 'Description of the project.' }),
    status: choice(['backlog', 'planned', 'started', 'paused', 'completed', 'canceled'], {
      default: 'backlog',
      filter: true,
      sort: true,
      doc: 'Status of the project.',
    }),
    health: choice(healths, {
      nullable: true,
      filter: true,
      sort: true,
      doc: 'Health of the project; null until set.',
    }),
    lead: reference(member, { nullable: true, filter: true, doc: 'Lead of the project.' }),
    members: json(
      members,
      { default: [], doc: 'Members who work on the project.' },
      Type.Array(idAndName(idOf(member.id), 'the member')),
    ),
    startDate: day({ nullable: true, filter: true, sort: true, doc: 'Start date of the project.' }),
    targetDate: day({
      nullable: true,
      filter: true,
      sort: true,
      doc: 'Target date of the project.',
    }),
    icon: text({ max: 40, nullable: true, doc: 'Emoji, or name of an icon.' }),
    color: string(color, { nullable: true, doc: 'Color of the project.' }),
    archivedAt: time({
      nullable: true,
      write: 'never',
      doc: 'Time at which the project was archived; null unless archived.',
    }),
    url: pageUrl('project'),
  },
  undo: 'values',
  operations: {
    list: 'List projects, newest first',
    create: 'Create a project',
    get: 'Get a project',
    update: 'Change a project',
    delete: {
      summary: 'Delete a project; it can be restored',
      description:
        'Issues stay in the project. No issues can be added, and milestones and updates are hidden until it is restored.',
    },
    restore: 'Restore a deleted project',
  },
  order: 'newest',
  asOf: true,
  events: {
    created: 'project.created',
    updated: 'project.updated',
    deleted: 'project.deleted',
    restored: 'project.restored',
    other: ['project.archived', 'project.unarchived'],
  },
  retainsDeleted: true,
  directory: { as: 'projects', entryFields: ['name'], withDeleted: true },
  calls: ['get', 'list', 'create', 'update', 'progress'],
  examples: {
    create: { name: 'Spring release', status: 'planned', targetDate: '2027-03-01' },
    update: { status: 'started', health: 'on_track' },
  },
});
