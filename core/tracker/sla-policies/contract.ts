// SLA policies: which issues have to be answered or done by when.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, flag, json, number, reference, text } from '../../contract/field.ts';
import { givenAs } from '../../lib/schema.ts';
import { calendar } from '../calendars/contract.ts';
import { stateTypes } from '../workflows/contract.ts';

const kinds = ['first_response', 'resolution'] as const;
export type SlaKind = (typeof kinds)[number];

const filter = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'A filter tree over the fields of issues, as in the list of issues; what it names must be there.',
  [givenAs]: 'issueFilter',
});
const pausing = Type.Array(
  Type.String({ maxLength: 80, description: 'Id or name of a workflow state, or a type of states.' }),
  { maxItems: 50, uniqueItems: true },
);
const yearMinutes = 366 * 1440;
export const positionMax = 1000;

export const slaPolicy = defineContract({
  name: 'sla_policy',
  path: 'sla-policies',
  scope: 'workflows',
  title: 'SlaPolicy',
  id: 'sla',
  doc: 'A promise: issues like these are answered or done within so long.',
  fields: {
    name: text({ max: 120, required: true, doc: 'What it is called.' }),
    kind: choice(kinds, {
      default: 'resolution',
      write: 'create',
      doc: 'What is to happen in time: that somebody else than the creator comments, or that the issue is completed. To complete it answers it as well.',
    }),
    enabled: flag({ default: true, doc: 'Whether issues come under it.' }),
    position: number(
      { minimum: 0, maximum: positionMax, integer: true },
      {
        doc: 'Its place: of each kind, the first policy that is enabled and that an issue passes counts.',
        default: 0,
      },
    ),
    filter: json(filter, { default: {}, doc: 'The issues that it is about; {} for all.' }),
    targetMinutes: number(
      { minimum: 1, maximum: yearMinutes, integer: true },
      {
        required: true,
        doc: 'Within how many minutes it is to happen, of the working hours of its calendar.',
      },
    ),
    atRiskMinutes: number(
      { minimum: 1, maximum: yearMinutes, integer: true },
      { nullable: true, doc: 'So many of these minutes before, the issue is at risk; null for no warning.' },
    ),
    calendar: reference(calendar, {
      nullable: true,
      doc: 'The calendar by whose working hours it counts; null counts around the clock.',
    }),
    pausedIn: json(pausing, {
      default: [],
      doc: `States in which the time stands still, by id or by type: ${stateTypes.join(', ')}.`,
    }),
  },
  undo: 'values',
  operations: {
    list: 'List SLA policies, by position',
    create: {
      summary: 'Create an SLA policy',
      description: 'It holds for issues that are made or changed from then on.',
    },
    get: 'Get an SLA policy',
    update: {
      summary: 'Change an SLA policy',
      description:
        'An issue comes under the change, or leaves the policy, when it is changed next. A clock that runs keeps the time at which it is due.',
    },
    delete: {
      summary: 'Delete an SLA policy',
      description: 'Its clocks that run are canceled: soon, and of many one part after the other.',
    },
  },
  events: { created: 'sla_policy.created', updated: 'sla_policy.updated', deleted: 'sla_policy.deleted' },
  keepsDeleted: true,
  order: ['position'],
  directory: {
    as: 'slaPolicies',
    keeps: [
      'name',
      'kind',
      'enabled',
      'position',
      'filter',
      'targetMinutes',
      'atRiskMinutes',
      'calendarId',
      'pausedIn',
      'createdAt',
    ],
    withDeleted: true,
  },
  examples: {
    create: {
      name: 'Urgent bugs in four hours',
      filter: { priority: 'urgent' },
      targetMinutes: 240,
      atRiskMinutes: 60,
      pausedIn: ['triage'],
    },
    update: { targetMinutes: 480 },
  },
});
