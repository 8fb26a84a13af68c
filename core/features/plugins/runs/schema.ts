import { Type } from 'typebox';
import { ActorResponse } from '../../../kernel/events/feed/schema.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { spentResponse } from '../budgets/budget.ts';
import { plugin } from '../installs/contract.ts';
import { RecordingFactsResponse } from '../recorder/schema.ts';
import { handlerKind, runStatus } from '../contract.ts';
import { effectOutcomes } from './effects.ts';
import {
  Closed,
  described,
  enumeration,
  idOf,
  namedSchema,
  nullable,
  time,
} from '../../../platform/lib/schema.ts';

const ms = (description: string) => nullable(Type.Number({ description }));
const at = (description: string) => nullable(described(time, description));
const text = (description: string) => Type.String({ description });

const Call = Closed({
  op: text('Operation, such as `issues.update`.'),
  ok: Type.Boolean({ description: 'True if the call succeeded.' }),
  code: nullable(text('Error code; null if the call succeeded.')),
  ms: Type.Number({ description: 'Duration in milliseconds.' }),
});
export const RunEffectResponse = Closed({
  kind: text('Type of the changed object, such as `issue`.'),
  id: text('Id of the changed object.'),
  action: enumeration('EffectAction', ['create', 'update', 'delete'], 'Change of the object.'),
  outcome: nullable(
    enumeration(
      'EffectOutcome',
      effectOutcomes,
      'Outcome of the effect. `applied`: written. `proposed`: pending in the proposal of the run. `simulated`: recorded only. `dropped`: discarded because the run failed. Null for runs older than this field.',
    ),
  ),
  name: nullable(
    text(
      'Display name of the object, such as `ENG-18` or `ENG-18 blocks ENG-19`; null for applied effects and unnamed objects.',
    ),
  ),
  fields: Type.Array(Type.String(), {
    description: 'Changed fields of an existing object, by their names in the API.',
  }),
  values: nullable(
    Type.Record(
      Type.String(),
      Closed({
        before: Type.Unknown({ description: 'Value before.' }),
        after: Type.Unknown({ description: 'Value that would have been written.' }),
      }),
      {
        description:
          'Values of proposed or simulated effects in their API representation, each cut to 1,000 characters; null for applied effects, whose values are in the events.',
      },
    ),
  ),
});
export const LogLine = Closed({
  level: enumeration('LogLevel', ['debug', 'info', 'warn', 'error'], 'Level of the log line.'),
  message: text('Message of the log line.'),
  atMs: Type.Number({ description: 'Time in milliseconds since 1970.' }),
});

export const RunResponse = namedSchema(
  'Run',
  Closed({
    id: idOf(idPrefixes.run),
    pluginId: Type.String({ description: 'Id of the install or automation.' }),
    pluginVersion: nullable(text('Plugin version of the last attempt; null if no attempt has ended.')),
    handler: Type.String({ description: 'Event type, or name of the schedule, action or route.' }),
    handlerKind,
    status: runStatus,
    waitsFor: spentResponse(
      'Exhausted budget that a queued or waiting run waits for; null if there is none.',
    ),
    eventId: nullable(idOf(idPrefixes.event, 'Id of the event that triggered the run; null if none did.')),
    mode: {
      ...plugin.fields.mode.response,
      description:
        'Mode of the last attempt. Probation or an exhausted budget can replace the mode of the plugin.',
    },
    attempt: Type.Integer({ minimum: 0, description: 'Number of attempts.' }),
    depth: Type.Integer({ description: 'Number of plugin runs in the causation chain of the event.' }),
    events: Type.Array(Closed({ id: idOf(idPrefixes.event), type: text('Event type.') }), {
      description: 'Events made by the effects.',
    }),
    calls: Type.Array(Call, { description: 'Host calls of the last attempt.' }),
    effects: Type.Array(RunEffectResponse, { description: 'Effects of the run.' }),
    cpuMs: ms('CPU time in milliseconds.'),
    memoryBytes: nullable(Type.Integer({ description: 'Peak memory in bytes.' })),
    wallMs: ms('Duration in milliseconds.'),
    queueMs: ms('Time in the queue in milliseconds.'),
    logs: Type.Array(LogLine, {
      description: 'Lines written to `ctx.log`; empty without the scope `plugins:write`.',
    }),
    progress: nullable(
      Closed(
        {
          done: Type.Number({ description: 'Number of units done.' }),
          of: Type.Number({ description: 'Total number of units.' }),
          unit: Type.Optional(Type.String({ description: 'Name of the unit, such as "teams".' })),
        },
        { description: 'Progress of the schedule; null if the handler reports none.' },
      ),
    ),
    continuedBy: nullable(
      idOf(idPrefixes.run, 'Id of the run that continues this one; null if there is none.'),
    ),
    undoneBy: nullable(idOf(idPrefixes.undo, 'Id of the undo that reverted the run; null if there is none.')),
    onBehalfOf: nullable(
      described(ActorResponse, 'Caller of the action, whose rights limit the run; null for other runs.'),
    ),
    result: Type.Unknown({
      description:
        'Value returned by an action or a route; null for other runs. Visible to the caller of the action, otherwise only with `plugins:write`.',
    }),
    proposalId: nullable(idOf('prp', 'Id of the proposal that holds the writes; null if there is none.')),
    error: nullable(
      Closed(
        {
          code: text('Error code.'),
          message: text('Error message.'),
          at: nullable(
            Type.String({ description: 'Place in the source of the plugin, such as `plugin.ts:14:9`.' }),
          ),
          stack: Type.Array(Type.String(), {
            description: 'Stack frames in the plugin, innermost first, such as `handle (plugin.ts:14:9)`.',
          }),
        },
        { description: 'Error of the failed run; null without a failure.' },
      ),
    ),
    recording: nullable(
      described(
        RecordingFactsResponse,
        'Recording for replay; null if the run has not ended or nothing was recorded.',
      ),
    ),
    createdAt: described(time, 'Time at which the run was queued.'),
    startedAt: at('Start of the last attempt.'),
    finishedAt: at('Time at which the run ended.'),
    leftOut: Type.Array(Type.String(), {
      description:
        'Missing scopes that would show more: without `plugins:write`, logs, result, error message and values of effects are omitted.',
    }),
  }),
);
