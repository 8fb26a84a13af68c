// Schemas of the events of runs, and of the response and event of undos.
import { Type } from 'typebox';
import { idPrefixes } from '../../platform/lib/ids.ts';
import {
  Closed,
  enumeration,
  idOf,
  namedSchema,
  nullable,
  described,
  requestTime,
} from '../../platform/lib/schema.ts';
import { proposal } from '../proposals/contract.ts';
import { automation } from '../automations/contract.ts';
import { installId, plugin } from './installs/contract.ts';

/** Values of `HandlerKind` in `sdk/plugin/handlers.ts`, which a contract does not import. */
export const handlerKind = enumeration(
  'HandlerKind',
  ['event', 'schedule', 'action', 'route'],
  'Type of the handler.',
);

const runStatuses = [
  ...(['queued', 'running', 'waiting', 'retrying'] as const),
  ...(['proposed', 'succeeded', 'dead', 'canceled'] as const),
] as const;
export type RunStatus = (typeof runStatuses)[number];

export const runStatus = enumeration(
  'RunStatus',
  runStatuses,
  'Status of the run. `waiting`: deferred by an exhausted budget. `retrying`: due again after a failed attempt. `proposed`: its writes wait in an open proposal. `dead`: failed, without a further attempt. `canceled`: ended by a request, because the plugin was inactive, or because its proposal was rejected.',
);

/** Statuses of ended runs. */
const runEnds = ['succeeded', 'proposed', 'dead', 'canceled'] as const satisfies readonly RunStatus[];
export type RunEnd = (typeof runEnds)[number];

const text = (description: string) => Type.String({ description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

/** Data of `automation.run` and `automation.failed`. */
export const AutomationRun = namedSchema(
  'AutomationRun',
  Closed({
    runId: idOf(idPrefixes.run, 'Id of the run.'),
    installId: installId('Id of the install or automation.'),
    ruleId: nullable(idOf(automation.id, 'Id of the automation; null for a run of another plugin.')),
    pluginId: text('Id of the plugin in its manifest.'),
    pluginVersion: nullable(
      text('Version of the plugin that ran; null if the run ended without an attempt.'),
    ),
    handler: text('Event type, or name of the schedule, action or route.'),
    handlerKind,
    eventId: nullable(idOf(idPrefixes.event, 'Id of the event that triggered the run; null if none did.')),
    mode: { ...plugin.fields.mode.response, description: 'Mode of the last attempt.' },
    status: enumeration('RunEnd', runEnds, 'Status of the ended run.'),
    attempt: count('Number of attempts.'),
    calls: count('Number of host calls in the last attempt.'),
    changed: count('Number of changed objects, excluding the own values of the plugin and proposed changes.'),
    fetches: count('Number of answered requests to other hosts.'),
    proposalId: nullable(
      idOf(proposal.id, 'Id of the proposal that holds the writes; null if there is none.'),
    ),
    errorCode: nullable(text('Error code of the failure, as `error.code` of the run; null after success.')),
  }),
);

const value = (description: string) => Type.Unknown({ description });

export const skipReasons = ['changed', 'bound', 'deleted', 'gone', 'worked_on', 'irreversible'] as const;

const issue = nullable(
  Closed({
    id: text('Id of the issue.'),
    identifier: nullable(text('Identifier of the issue, such as `ENG-12`.')),
  }),
);

const UndoneObject = namedSchema(
  'UndoneObject',
  Closed({
    kind: text('Type of the object, such as `issue`.'),
    id: text('Id of the object.'),
    issue: described(issue, 'Issue itself, or issue of the object; null if there is none.'),
    action: enumeration(
      'UndoAction',
      ['update', 'remove', 'restore'],
      'Action of the undo: `update` reverts fields, `remove` deletes a created object, `restore` restores a deleted one.',
    ),
    fields: Type.Array(
      Closed({
        field: text('Name of the field in the API.'),
        from: value('Value before the undo; text longer than 1,000 characters is cut.'),
        to: value('Value after the undo.'),
      }),
      { description: 'Reverted fields.' },
    ),
  }),
);

const SkippedUndo = namedSchema(
  'SkippedUndo',
  Closed({
    kind: text('Type of the object, such as `issue`.'),
    id: text('Id of the object.'),
    issue: described(issue, 'Issue itself, or issue of the object; null if there is none.'),
    field: nullable(text('Skipped field; null if the whole object is skipped.')),
    reason: enumeration(
      'UndoSkipReason',
      skipReasons,
      'Reason for the skip. `changed`: the value has changed since. `bound`: a dependent value has changed since. `deleted`: the object or its issue was deleted. `gone`: the object, or the one that the field refers to, no longer exists. `worked_on`: others changed the object or added to it. `irreversible`: the change cannot be undone.',
    ),
    ranSet: value('Value that was written.'),
    now: value('Present value.'),
    changedBy: nullable(
      Closed(
        { kind: text('Type of the actor.'), id: text('Id of the actor.'), name: text('Name of the actor.') },
        { description: 'Actor of the later change; null if unknown.' },
      ),
    ),
    eventId: nullable(idOf(idPrefixes.event, 'Id of the event of the later change; null if unknown.')),
  }),
);

export const UndoResponse = namedSchema(
  'Undo',
  Closed({
    id: nullable(
      idOf(
        idPrefixes.undo,
        'Id of the undo, which can itself be undone; null if nothing was changed, as in a simulation.',
      ),
    ),
    undid: Type.Array(Type.String(), {
      description: 'Ids of the undone runs, proposals or undos, newest first.',
    }),
    changes: Type.Array(UndoneObject, {
      description: 'Reverted objects; in a simulation, the objects that would be reverted.',
    }),
    skipped: Type.Array(SkippedUndo, { description: 'Skipped fields and objects, with the reasons.' }),
    message: text('Summary in a sentence.'),
  }),
);

/** Data of `automation.undone`. */
export const AutomationUndone = namedSchema(
  'AutomationUndone',
  Closed({
    undo: Closed(
      { id: idOf(idPrefixes.undo, 'Id of the undo.') },
      { description: 'Undo that the request created.' },
    ),
    undid: Type.Array(Type.String(), { description: 'Ids of the undone runs, proposals or undos.' }),
    plugin: nullable(
      Closed(
        { id: installId('Id of the install or automation.') },
        { description: 'Plugin or automation whose writes were undone; null if there is none.' },
      ),
    ),
    changed: Type.Integer({ description: 'Number of reverted objects.' }),
    skipped: Type.Integer({ description: 'Number of skipped fields and objects.' }),
  }),
);

export const UndoRange = Closed({
  since: described(requestTime, 'Start of the range, inclusive.'),
  until: Type.Optional(described(requestTime, 'End of the range, exclusive; default now.')),
});
