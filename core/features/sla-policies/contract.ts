import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, flag, json, number, reference, text } from '../../kernel/contract/field.ts';
import { inputForm } from '../../platform/lib/schema.ts';
import { calendar } from '../calendars/contract.ts';
import { stateTypes } from '../workflows/contract.ts';

const kinds = ['first_response', 'resolution'] as const;
export type SlaKind = (typeof kinds)[number];

const filter = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Filter tree, as for the list of issues; every object that it names must exist.',
  [inputForm]: 'issueFilter',
});
const pausing = Type.Array(
  Type.String({ maxLength: 80, description: 'Id or name of a workflow state, or a state type.' }),
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
  doc: 'Target time for the first response to issues, or for their resolution.',
  fields: {
    name: text({ max: 120, required: true, doc: 'Name of the policy.' }),
    kind: choice(kinds, {
      default: 'resolution',
      write: 'create',
      doc: 'Type of the target: `first_response` is met when someone other than the creator comments or the issue is completed, `resolution` when the issue is completed.',
    }),
    enabled: flag({ default: true, doc: 'True if the policy applies to issues; default true.' }),
    position: number(
      { minimum: 0, maximum: positionMax, integer: true },
      {
        doc: 'Position of the policy; of each target type, the first enabled policy whose filter matches an issue applies. Default: last.',
        default: 0,
      },
    ),
    filter: json(filter, {
      default: {},
      doc: 'Filter for the issues that the policy applies to; {} for all.',
    }),
    targetMinutes: number(
      { minimum: 1, maximum: yearMinutes, integer: true },
      {
        required: true,
        doc: 'Target time in minutes, counted in the working hours of the calendar.',
      },
    ),
    atRiskMinutes: number(
      { minimum: 1, maximum: yearMinutes, integer: true },
      { nullable: true, doc: 'Warning time in minutes before the target; null for no warning.' },
    ),
    calendar: reference(calendar, {
      nullable: true,
      doc: 'Calendar whose working hours are counted; null to count around the clock.',
    }),
    pausedIn: json(pausing, {
      default: [],
      doc: `States in which the clock is paused, by id, name or type: ${stateTypes.join(', ')}.`,
    }),
  },
  undo: 'values',
  operations: {
    list: 'List SLA policies, by position',
    create: {
      summary: 'Create an SLA policy',
      description: 'The policy applies to issues that are created or changed afterwards.',
    },
    get: 'Get an SLA policy',
    update: {
      summary: 'Change an SLA policy',
      description:
        'The change applies to an issue when the issue changes next. A running clock keeps its due time.',
    },
    delete: {
      summary: 'Delete an SLA policy',
      description: 'Running clocks are canceled soon afterwards, in batches.',
    },
  },
  events: { created: 'sla_policy.created', updated: 'sla_policy.updated', deleted: 'sla_policy.deleted' },
  retainsDeleted: true,
  order: ['position'],
  directory: {
    as: 'slaPolicies',
    entryFields: [
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
