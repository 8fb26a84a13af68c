// The public shape of a run: what it saw, called, changed and cost.
import { Type } from 'typebox';
import { idPrefixes } from '../../lib/ids.ts';
import { Closed, idOf, named, nullable, time } from '../../lib/schema.ts';

export const runStatuses = ['queued', 'running', 'succeeded', 'retrying', 'dead'] as const;
const ms = nullable(Type.Number());

export const RunShown = named(
  'Run',
  Closed({
    id: idOf(idPrefixes.run),
    pluginId: Type.String({ description: 'The install.' }),
    handler: Type.String({ description: 'The event type or the schedule.' }),
    handlerKind: Type.Enum(['event', 'schedule']),
    status: Type.Enum([...runStatuses]),
    eventId: nullable(idOf(idPrefixes.event)),
    mode: Type.Enum(['apply', 'simulate']),
    attempt: Type.Integer({ minimum: 0, description: 'Attempts made.' }),
    depth: Type.Integer({ description: 'Plugin runs that led to the event.' }),
    events: Type.Array(Closed({ id: idOf(idPrefixes.event), type: Type.String() }), {
      description: 'The events that its effects made.',
    }),
    calls: Type.Array(
      Closed({ op: Type.String(), ok: Type.Boolean(), code: nullable(Type.String()), ms: Type.Number() }),
    ),
    effects: Type.Array(
      Closed({
        kind: Type.String(),
        id: Type.String(),
        action: Type.Enum(['create', 'update']),
        fields: Type.Array(Type.String(), { description: 'What changed of an object that existed.' }),
        values: nullable(
          Type.Record(Type.String(), Closed({ before: Type.Unknown(), after: Type.Unknown() }), {
            description:
              'Of a run in mode `simulate`: what it would have written, as the API shows it, cut to 1,000 characters each. Of one that wrote, its events have it.',
          }),
        ),
      }),
    ),
    cpuMs: ms,
    memoryBytes: nullable(Type.Integer()),
    wallMs: ms,
    queueMs: ms,
    logs: Type.Array(
      Closed({
        level: Type.Enum(['debug', 'info', 'warn', 'error']),
        message: Type.String(),
        atMs: Type.Number(),
      }),
    ),
    progress: nullable(
      Closed(
        {
          done: Type.Number(),
          of: Type.Number(),
          unit: Type.Optional(Type.String({ description: 'What is counted: "teams".' })),
        },
        { description: 'How far the schedule has come, where it says so.' },
      ),
    ),
    continuedBy: nullable(
      idOf(idPrefixes.run, 'The run that goes on where this one, not being done, left off.'),
    ),
    error: nullable(
      Closed({
        code: Type.String({ description: 'What went wrong, for programs.' }),
        message: Type.String(),
        at: nullable(
          Type.String({ description: 'The line of the plugin that it came from: `plugin.ts:14:9`.' }),
        ),
        stack: Type.Array(Type.String(), {
          description: 'Its calls in the plugin, the innermost first: `handle (plugin.ts:14:9)`.',
        }),
      }),
    ),
    createdAt: time,
    startedAt: nullable(time),
    finishedAt: nullable(time),
  }),
);
