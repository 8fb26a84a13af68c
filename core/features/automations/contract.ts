// Contract of automations: rules without code, which the plugin `automations` runs. docs/automations.
import { Type, type Static } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, json, markdown, number, reference, string, text } from '../../kernel/contract/field.ts';
import { Closed, enumeration, idOf, namedSchema, nullable } from '../../platform/lib/schema.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import { member } from '../people/contract.ts';

/** Values of the enumeration `BacktestStatus` of backtests. */
const backtestStatuses = ['queued', 'running', 'done', 'canceled', 'failed'] as const;
/** `simulate` records the effects of a rule and drops them; `propose` turns them into proposals. */
const modes = ['simulate', 'propose', 'apply'] as const;
const states = ['active', 'paused', 'suspended', 'disabled_failures', 'disabled_sandbox'] as const;

/** Part of a rule in JSON; `shape.ts` checks it, because its members depend on `type`. */
const part = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
const seeDocs = 'See docs/automations/reference.md.';

const actionsMax = 20;
/** Limit of automations that a workspace can have. */
export const automationsMax = 500;

const StepDown = Closed({
  share: Type.Number({
    minimum: 0.01,
    maximum: 1,
    description: 'Share of overruled changes that steps the automation down, such as 0.3.',
  }),
  days: Type.Integer({ minimum: 1, maximum: 90, description: 'Length of the window in days.' }),
  least: Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: 'Minimum number of overruled changes in the window.',
  }),
});

export const AutomationBacktest = namedSchema(
  'AutomationBacktest',
  Closed({
    id: idOf(idPrefixes.backtest, 'Id of the backtest.'),
    status: enumeration('BacktestStatus', backtestStatuses, 'Status of the backtest.'),
  }),
);
export type AutomationBacktest = Static<typeof AutomationBacktest>;

const probation = nullable(
  Closed({
    runsLeft: Type.Integer({ minimum: 1, description: 'Number of runs to approve until probation ends.' }),
    message: Type.String({ description: 'Message about the probation and how to end it.' }),
  }),
);
const scopes = Type.Array(
  Closed({
    scope: Type.String({ description: 'Name of the scope, such as `issues:write`.' }),
    fields: nullable(
      Type.Array(Type.String(), { description: 'Fields that the automation writes; null for all.' }),
    ),
  }),
);

export const automation = defineContract({
  name: 'automation',
  path: 'automations',
  title: 'Automation',
  id: 'atm',
  doc: 'Rule without code: a trigger, conditions and actions.',
  fields: {
    name: text({ max: 120, required: true, filter: true, doc: 'Name of the automation.' }),
    description: markdown({ max: 2000, default: '', doc: 'Description of the automation.' }),
    trigger: json(part(`Trigger, such as \`{"type":"event","event":"issue.created"}\`. ${seeDocs}`), {
      required: true,
      doc: 'Trigger of the automation.',
    }),
    conditions: json(part(`Conditions, which must all hold; \`{}\` for none. ${seeDocs}`), {
      default: {},
      doc: 'Conditions of the automation.',
    }),
    issues: json(part(`\`{"filter": …, "limit": 50}\`. ${seeDocs}`), {
      nullable: true,
      doc: 'Selection of the issues that the automation acts on; null for the issue of the trigger.',
    }),
    actions: json(
      Type.Array(part(`Action, such as \`{"type":"comment","body":"…"}\`. ${seeDocs}`), {
        minItems: 1,
        maxItems: actionsMax,
      }),
      { required: true, doc: 'Actions of the automation, in order.' },
    ),
    mode: choice(modes, {
      default: 'apply',
      filter: true,
      doc: 'Mode of the writes: `apply` commits them, `propose` requires approval, `simulate` records and drops them.',
    }),
    stepDown: json(StepDown, {
      default: { share: 0.3, days: 14, least: 5 },
      doc: 'Limits of overruled changes: beyond them `apply` becomes `propose`, and `propose` becomes `simulate`.',
    }),
    owner: reference(member, {
      nullable: true,
      write: 'update',
      filter: true,
      doc: 'Member whose rights limit the automation: the creator, until another one is set.',
    }),
    state: choice(states, {
      write: 'never',
      filter: true,
      doc: 'State of the automation; only `active` ones run. `suspended`: the owner left or lost a right.',
    }),
    stateReason: string(
      Type.String({ description: 'Reason why the automation does not run; null if it runs.' }),
      { write: 'never', nullable: true },
    ),
    revision: number(
      { integer: true, minimum: 1 },
      {
        write: 'never',
        doc: 'Revision of the rule, incremented by each change of its trigger, conditions, issues or actions.',
      },
    ),
    probation: json(probation, {
      write: 'never',
      computed: true,
      doc: 'Probation of the automation: its writes need approval until enough runs are approved. Null if it is not on probation.',
    }),
    scopes: json(scopes, {
      write: 'never',
      computed: true,
      doc: 'Scopes that the automation uses, within the rights of its owner.',
    }),
    backtest: json(AutomationBacktest, {
      write: 'never',
      nullable: true,
      unlogged: true,
      doc: 'Backtest of the present revision; null if there was none.',
    }),
  },
  undo: { never: 'To undo a change of an automation, restore an earlier revision.' },
  operations: {
    list: 'List automations, oldest first',
    create: 'Create an automation, paused, and start its backtest',
    get: 'Get an automation',
    update: 'Change an automation',
    delete: 'Delete an automation',
  },
  events: {
    created: 'automation.created',
    updated: 'automation.updated',
    deleted: 'automation.deleted',
    other: ['automation.disabled'],
  },
  retainsDeleted: true,
  examples: {
    create: {
      name: 'Triage urgent bugs',
      trigger: { type: 'event', event: 'issue.created', filter: { label: 'bug' } },
      conditions: { issue: { priority: 'none' } },
      actions: [{ type: 'set', fields: { priority: 'high' } }],
    },
    update: { mode: 'propose' },
  },
});

/** Returns true for the id of an automation, which the plugin runs as an install with the same id. */
export const isRuleId = (id: string): boolean => id.startsWith(`${automation.id}_`);
