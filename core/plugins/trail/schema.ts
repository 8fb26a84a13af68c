import { Type } from 'typebox';
import { idPrefixes } from '../../lib/ids.ts';
import {
  Closed,
  described,
  enumeration,
  idOf,
  named,
  nullable,
  pageQuery,
  pageWith,
  time,
} from '../../lib/schema.ts';

const text = (description: string) => Type.String({ description });

const RunSeen = nullable(
  Closed({
    plugin: text('What the plugin is called; its id where it was removed.'),
    status: text('How far it has come: `succeeded`, `dead`.'),
    handler: nullable(
      text('What of it ran: the type of the event, or the schedule. Null without `plugins:read`.'),
    ),
    mode: nullable(text('Whether it wrote. Null without `plugins:read`.')),
    ms: nullable(Type.Number({ description: 'How long it took.' })),
    calls: nullable(
      Type.Record(Type.String(), Type.Integer(), { description: 'Its calls by name, counted.' }),
    ),
    effects: nullable(Type.Integer({ description: 'Objects that it wrote.' })),
    error: nullable(text('Why it failed.')),
    undoneBy: nullable(idOf(idPrefixes.undo, 'The undo that took it back.')),
  }),
);

const TrailNode = named(
  'TrailNode',
  Closed({
    id: text('Of the event, the run or the delivery.'),
    parentId: nullable(text('The node that it came of; null of the root.')),
    kind: enumeration('TrailNodeKind', ['event', 'run', 'delivery'], 'What it is.'),
    at: described(time, 'When it happened.'),
    type: nullable(text('Of an event: its type.')),
    actor: nullable(text('Of an event: who did it.')),
    isUndo: Type.Boolean({
      description: 'An event in which a person took back, or approved, what the run wrote.',
    }),
    fields: Type.Array(
      Closed({
        field: text('The name of a field.'),
        from: Type.Unknown({ description: 'What it was.' }),
        to: Type.Unknown({ description: 'What it became.' }),
      }),
      { description: 'Of an event: what it changed, cut to 1,000 characters each.' },
    ),
    run: described(RunSeen, 'Of a run.'),
    delivery: described(
      nullable(
        Closed({
          webhookId: text('The webhook.'),
          status: text('How far it has come.'),
          attempts: Type.Integer({ description: 'Attempts made.' }),
        }),
      ),
      'Of a delivery.',
    ),
  }),
);

const TrailRoot = named(
  'TrailRoot',
  Closed({
    rootId: text('The event, or the run of a schedule, that all of it began with.'),
    at: described(time, 'When the newest of it happened.'),
    nodes: Type.Array(TrailNode, {
      description: 'A tree, each after what it came of. An event that the caller may not read is left out.',
    }),
  }),
);

export const Trail = pageWith('Trail', TrailRoot, {
  leftOut: Type.Array(Type.String(), {
    description:
      'Scopes that would show more: `plugins:read` for what runs did, `webhooks:read` for deliveries.',
  }),
  setBy: nullable(
    Closed(
      {
        field: text('The field that was asked about.'),
        eventId: nullable(text('The event that gave it its present value; null where none is known.')),
        chain: Type.Array(Type.String(), {
          description: 'The ids of the nodes from that event back to the root.',
        }),
      },
      { description: 'Where the query names a field.' },
    ),
  ),
});

export const trailQuery = Closed({
  ...pageQuery,
  field: Type.Optional(
    Type.String({
      maxLength: 60,
      pattern: '^[a-zA-Z]+$',
      description: 'A field of the issue: only what gave it its present value is shown.',
    }),
  ),
});
