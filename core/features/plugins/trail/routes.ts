import { Type } from 'typebox';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import {
  Closed,
  described,
  enumeration,
  idOf,
  namedSchema,
  nullable,
  pageQuery,
  pageWith,
  time,
  nameOf,
} from '../../../platform/lib/schema.ts';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { contractOf, type UndoModels } from '../undo/models.ts';
import { readTrail } from './trail.ts';

const text = (description: string) => Type.String({ description });

const RunSeen = nullable(
  Closed({
    plugin: text('Name of the plugin; its id if the plugin was removed.'),
    version: nullable(text('Version of the plugin that ran; null if no attempt has ended.')),
    status: text('Status of the run, such as `succeeded`, `proposed` or `dead`.'),
    handler: nullable(text('Handler that ran: an event type or a schedule. Null without `plugins:read`.')),
    mode: nullable(text('Mode of the run. Null without `plugins:read`.')),
    ms: nullable(Type.Number({ description: 'Duration in milliseconds. Null without `plugins:read`.' })),
    calls: nullable(
      Type.Record(Type.String(), Type.Integer(), {
        description: 'Number of host calls by name. Null without `plugins:read`.',
      }),
    ),
    effects: nullable(Type.Integer({ description: 'Number of effects. Null without `plugins:read`.' })),
    error: nullable(text('Error message; without `plugins:write` only the error code.')),
    undoneBy: nullable(idOf(idPrefixes.undo, 'Id of the undo that reverted the run; null if there is none.')),
  }),
);

const ProposalSeen = nullable(
  Closed({
    status: text('Status of the proposal.'),
    title: nullable(text('Title of the proposal. Null without `proposals:read`.')),
    decidedBy: nullable(text('Name of the person who decided. Null without `proposals:read`.')),
    undoneBy: nullable(
      idOf(idPrefixes.undo, 'Id of the undo that reverted the approved changes; null if there is none.'),
    ),
  }),
);

const UndoSeen = nullable(
  Closed({
    undid: Type.Array(Type.String(), { description: 'Ids of the reverted runs, proposals or undos.' }),
    changed: Type.Integer({ description: 'Number of reverted objects.' }),
    skipped: Type.Integer({ description: 'Number of skipped fields and objects.' }),
  }),
);

const TrailNode = namedSchema(
  'TrailNode',
  Closed({
    id: text('Id of the event, run, proposal, undo or delivery.'),
    parentId: nullable(text('Id of the node that caused this one; null for the root.')),
    kind: enumeration('TrailNodeKind', ['event', 'run', 'proposal', 'undo', 'delivery'], 'Type of the node.'),
    at: described(time, 'Time at which the event, run, proposal, undo or delivery was created.'),
    type: nullable(
      text('Event type, or the first type if one change made several events; null for other nodes.'),
    ),
    types: Type.Array(Type.String(), {
      description: 'Types of all events of the change; empty for other nodes.',
    }),
    actor: nullable(text('Name of the actor of an event or undo; null for other nodes.')),
    name: nullable(
      text(
        'Title of the attachment of an event, or its relation and the other issue, such as `blocks ENG-19`; null for other nodes.',
      ),
    ),
    isUndo: Type.Boolean({ description: 'True if the event is part of an undo.' }),
    fields: Type.Array(
      Closed({
        field: text('Name of the field.'),
        from: Type.Unknown({ description: 'Previous value.' }),
        to: Type.Unknown({ description: 'New value.' }),
      }),
      { description: 'Changed fields of an event, each value cut to 1,000 characters.' },
    ),
    run: described(RunSeen, 'Details of a run; null for other nodes.'),
    proposal: described(
      ProposalSeen,
      'Details of a proposal; null for other nodes. The approved changes are its child nodes.',
    ),
    undo: described(
      UndoSeen,
      'Details of an undo; null for other nodes. The reverted changes are its child nodes.',
    ),
    delivery: described(
      nullable(
        Closed({
          webhookId: text('Id of the webhook.'),
          status: text('Status of the delivery.'),
          attempts: Type.Integer({ description: 'Number of attempts.' }),
        }),
      ),
      'Details of a delivery; null for other nodes.',
    ),
  }),
);

const TrailRoot = namedSchema(
  'TrailRoot',
  Closed({
    rootId: text('Id of the event, or of the scheduled run, that caused the tree.'),
    at: described(time, 'Time of the newest event on the issue.'),
    nodes: Type.Array(TrailNode, {
      description:
        'Nodes of the tree, each after its parent. Events that the caller cannot read are omitted.',
    }),
  }),
);

const Trail = pageWith('Trail', TrailRoot, {
  leftOut: Type.Array(Type.String(), {
    description:
      'Missing scopes that would show more: `plugins:read` for runs, `proposals:read` for proposals, `webhooks:read` for deliveries.',
  }),
  setBy: nullable(
    Closed(
      {
        field: text('Requested field.'),
        eventId: nullable(text('Id of the event that set the present value; null if unknown.')),
        chain: Type.Array(Type.String(), {
          description: 'Ids of the nodes from this event back to the root.',
        }),
      },
      { description: 'Event that set the field in the query; null without `field`.' },
    ),
  ),
});

const trailQuery = Closed({
  ...pageQuery,
  field: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Name of an issue field: returns only the root that set its present value.',
    }),
  ),
});

export function trailRoute(models: UndoModels): Route {
  const issue = contractOf('issue')!;
  return defineRoute({
    method: 'GET',
    path: '/api/v1/issues/{id}/trail',
    name: 'issues.trail',
    summary: 'Get the trail of an issue: events, plugin runs and deliveries, grouped by root cause',
    description:
      'Roots are listed newest first. Each root is a tree of nodes: an event, the runs that it caused, the events that those runs made, and so on. A root whose events span two pages appears on both, each time with the events of that page. Runs in progress are shown once they have ended.',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    params: Closed({ id: nameOf(issue) }),
    query: trailQuery,
    responses: { 200: Trail },
    errors: ['invalid_cursor'],
    read: (ctx, { params, query }) => readTrail(ctx, models.byName('issue')!, params.id, query),
  });
}
