// The public shape of a run: what it saw, called, changed and cost.
import { Type } from 'typebox';
import { ActorShown } from '../../events/schema.ts';
import { idPrefixes } from '../../lib/ids.ts';
import { spentShown } from '../budgets/schema.ts';
import { plugin } from '../installs/contract.ts';
import { RecordingFactsShown } from '../recorder/schema.ts';
import { handlerKind } from './contract.ts';
import { effectOutcomes } from './effects.ts';
import { Closed, described, enumeration, idOf, named, nullable, time } from '../../lib/schema.ts';

const runStatuses = ['queued', 'running', 'succeeded', 'retrying', 'dead'] as const;
const ms = (description: string) => nullable(Type.Number({ description }));
const at = (description: string) => nullable(described(time, description));
const text = (description: string) => Type.String({ description });

export const runStatus = enumeration('RunStatus', runStatuses, 'How far it has come.');

const Call = Closed({
  op: text('The operation, such as `issues.update`.'),
  ok: Type.Boolean({ description: 'Whether it succeeded.' }),
  code: nullable(text('The code of the error where it did not.')),
  ms: Type.Number({ description: 'How long it took, in milliseconds.' }),
});
const Effect = Closed({
  kind: text('What was changed, such as `issue`.'),
  id: text('Its id.'),
  action: enumeration('EffectAction', ['create', 'update', 'delete'], 'What was done to it.'),
  outcome: nullable(
    enumeration(
      'EffectOutcome',
      effectOutcomes,
      '`applied`: it was written. `proposed`: it waits in the proposal of the run. `simulated`: it was only shown. `dropped`: the run failed. Null of runs from before this was kept.',
    ),
  ),
  name: nullable(
    text(
      'What people call it, of what was not applied: `ENG-18`, `ENG-18 blocks ENG-19`; null of what has no name.',
    ),
  ),
  fields: Type.Array(Type.String(), {
    description: 'What changed of an object that existed, by the names that answers show.',
  }),
  values: nullable(
    Type.Record(
      Type.String(),
      Closed({
        before: Type.Unknown({ description: 'What it was.' }),
        after: Type.Unknown({ description: 'What it would have been.' }),
      }),
      {
        description:
          'Of what was proposed or simulated: what would have been written, as the API shows it, cut to 1,000 characters each. Of what was applied, the events have it.',
      },
    ),
  ),
});
const LogLine = Closed({
  level: enumeration('LogLevel', ['debug', 'info', 'warn', 'error'], 'How serious it is.'),
  message: text('What the plugin wrote.'),
  atMs: Type.Number({ description: 'When, in milliseconds since 1970.' }),
});

export const RunShown = named(
  'Run',
  Closed({
    id: idOf(idPrefixes.run),
    pluginId: Type.String({ description: 'The install.' }),
    pluginVersion: nullable(
      text(
        'The version of the plugin that made the last attempt, whatever is installed now; null where no attempt has ended.',
      ),
    ),
    handler: Type.String({ description: 'The event type, or the name of the schedule, action or route.' }),
    handlerKind,
    status: runStatus,
    waitsFor: spentShown('Of a queued run: the budget of its plugin is spent, and until when.'),
    eventId: nullable(idOf(idPrefixes.event, 'The event that it was run for; null for what no event calls.')),
    mode: described(
      plugin.fields.mode.shown,
      'The mode that its last attempt went by: what a plugin on probation, or with a spent budget, has in place of its own.',
    ),
    attempt: Type.Integer({ minimum: 0, description: 'Attempts made.' }),
    depth: Type.Integer({ description: 'Plugin runs that led to the event.' }),
    events: Type.Array(Closed({ id: idOf(idPrefixes.event), type: text('Its type.') }), {
      description: 'The events that its effects made.',
    }),
    calls: Type.Array(Call, { description: 'What it asked of the server.' }),
    effects: Type.Array(Effect, { description: 'What it wrote.' }),
    cpuMs: ms('Processor time that it took, in milliseconds.'),
    memoryBytes: nullable(Type.Integer({ description: 'Memory that it held at most.' })),
    wallMs: ms('How long it took, in milliseconds.'),
    queueMs: ms('How long it waited for its turn, in milliseconds.'),
    logs: Type.Array(LogLine, {
      description: 'What it wrote to `ctx.log`; empty without the scope `plugins:write`.',
    }),
    progress: nullable(
      Closed(
        {
          done: Type.Number({ description: 'So many of them are done.' }),
          of: Type.Number({ description: 'So many there are.' }),
          unit: Type.Optional(Type.String({ description: 'What is counted: "teams".' })),
        },
        { description: 'How far the schedule has come, where it says so.' },
      ),
    ),
    continuedBy: nullable(
      idOf(idPrefixes.run, 'The run that goes on where this one, not being done, left off.'),
    ),
    undoneBy: nullable(idOf(idPrefixes.undo, 'The undo that took back what it changed.')),
    onBehalfOf: nullable(
      described(ActorShown, 'Whoever called the action: the run can do no more than they can.'),
    ),
    result: Type.Unknown({
      description:
        'What an action or a route returned; null of others. Shown to whoever called the action, otherwise only with `plugins:write`.',
    }),
    proposalId: nullable(idOf('prp', 'The proposal that holds what it would have written.')),
    error: nullable(
      Closed(
        {
          code: text('What went wrong, for programs.'),
          message: text('What went wrong, in words.'),
          at: nullable(
            Type.String({ description: 'The line of the plugin that it came from: `plugin.ts:14:9`.' }),
          ),
          stack: Type.Array(Type.String(), {
            description: 'Its calls in the plugin, the innermost first: `handle (plugin.ts:14:9)`.',
          }),
        },
        { description: 'Why it failed.' },
      ),
    ),
    recording: nullable(
      described(
        RecordingFactsShown,
        'What is kept for its replay; null where it has not ended, or nothing is.',
      ),
    ),
    createdAt: described(time, 'When it was queued.'),
    startedAt: at('When its last attempt began.'),
    finishedAt: at('When it ended.'),
    leftOut: Type.Array(Type.String(), {
      description:
        'Scopes that would show more: without `plugins:write` the logs, the result, the message of the error and the values of effects are left out.',
    }),
  }),
);
