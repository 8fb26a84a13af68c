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
    version: nullable(text('The version of the plugin that ran; null where no attempt has ended.')),
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
    error: nullable(text('Why it failed; its code without `plugins:write`.')),
    undoneBy: nullable(idOf(idPrefixes.undo, 'The undo that took it back.')),
  }),
);

const ProposalSeen = nullable(
  Closed({
    status: text('Whether it waits, and what became of it.'),
    title: nullable(text('What it would do. Null without `proposals:read`.')),
    decidedBy: nullable(text('Who decided on it.')),
    undoneBy: nullable(idOf(idPrefixes.undo, 'The undo that took back what was approved.')),
  }),
);

const UndoSeen = nullable(
  Closed({
    undid: Type.Array(Type.String(), { description: 'The runs, proposals or undos that it took back.' }),
    changed: Type.Integer({ description: 'Objects that it put back.' }),
    skipped: Type.Integer({ description: 'Fields and objects that it left as they were.' }),
  }),
);

const TrailNode = named(
  'TrailNode',
  Closed({
    id: text('Of the event, the run, the proposal, the undo or the delivery.'),
    parentId: nullable(text('The node that it came of; null of the root.')),
    kind: enumeration('TrailNodeKind', ['event', 'run', 'proposal', 'undo', 'delivery'], 'What it is.'),
    at: described(time, 'When it happened.'),
    type: nullable(text('Of an event: its type; the first where several tell one change.')),
    types: Type.Array(Type.String(), {
      description: 'Of an event: the types of all events that tell the change.',
    }),
    actor: nullable(text('Of an event or an undo: who did it, a person by name.')),
    isUndo: Type.Boolean({ description: 'An event in which an undo took something back.' }),
    fields: Type.Array(
      Closed({
        field: text('The name of a field.'),
        from: Type.Unknown({ description: 'What it was.' }),
        to: Type.Unknown({ description: 'What it became.' }),
      }),
      { description: 'Of an event: what it changed, cut to 1,000 characters each.' },
    ),
    run: described(RunSeen, 'Of a run.'),
    proposal: described(ProposalSeen, 'Of a proposal: what was approved of it stands below it.'),
    undo: described(UndoSeen, 'Of an undo: what it put back stands below it.'),
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
      'Scopes that would show more: `plugins:read` for what runs did, `proposals:read` for proposals, `webhooks:read` for deliveries.',
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
      maxLength: 200,
      description: 'A field of the issue: only what gave it its present value is shown.',
    }),
  ),
});
