// Projects: work with a goal and a date, across teams.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
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
} from '../../contract/field.ts';
import { member } from '../../identity/members/contract.ts';
import { idAndName, idOf } from '../../lib/schema.ts';

export const healths = ['on_track', 'at_risk', 'off_track'] as const;
const color = Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'A colour as #rrggbb in lower case.' });
const members = Type.Array(idOrName(member), {
  maxItems: 100,
  uniqueItems: true,
  description: 'Up to 100 ids, `me` among them.',
});

export const project = defineContract({
  name: 'project',
  path: 'projects',
  title: 'Project',
  id: 'prj',
  names: { by: ['name'] },
  doc: 'Work with a goal and a date, across teams.',
  fields: {
    name: text({ max: 120, required: true, filter: true, doc: 'What it is called.' }),
    description: markdown({ max: 65_536, default: '', doc: 'What it is for.' }),
    status: choice(['backlog', 'planned', 'started', 'paused', 'completed', 'canceled'], {
      default: 'backlog',
      filter: true,
      sort: true,
      doc: 'How far it has come.',
    }),
    health: choice(healths, {
      nullable: true,
      filter: true,
      sort: true,
      doc: 'Whether it will reach its goal; null where nobody has said.',
    }),
    lead: reference(member, { nullable: true, filter: true, doc: 'Who leads it.' }),
    members: json(
      members,
      { default: [], doc: 'Who works on it.' },
      Type.Array(idAndName(idOf(member.id), 'the member')),
    ),
    startDate: day({ nullable: true, filter: true, sort: true, doc: 'The day on which it begins.' }),
    targetDate: day({
      nullable: true,
      filter: true,
      sort: true,
      doc: 'The day on which it is to be reached.',
    }),
    icon: text({ max: 40, nullable: true, doc: 'An emoji, or the name of a picture.' }),
    color: string(color, { nullable: true, doc: 'How it is shown.' }),
    archivedAt: time({
      nullable: true,
      write: 'never',
      doc: 'When it was put away; null while lists show it.',
    }),
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
        'Its issues stay, and go on to show it. It takes no further issues, and its milestones and updates are not shown until it is restored.',
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
  keepsDeleted: true,
  directory: { as: 'projects', keeps: ['name'], withDeleted: true },
  calls: ['get', 'list', 'create', 'update', 'progress'],
  examples: {
    create: { name: 'Spring release', status: 'planned', targetDate: '2027-03-01' },
    update: { status: 'started', health: 'on_track' },
  },
});
