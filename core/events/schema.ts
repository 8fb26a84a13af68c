// The public shape of an event. docs/spec/events.md › The envelope.
import { Type } from 'typebox';
import { idPrefixes } from '../lib/ids.ts';
import { Closed, described, enumeration, idOf, named, nullable, time, uuid } from '../lib/schema.ts';
import { eventTypes } from './catalogue.ts';

export const ActorShown = named(
  'Actor',
  Closed({
    kind: enumeration(
      'ActorKind',
      ['user', 'api_key', 'app', 'plugin', 'system'],
      'What kind of actor it is.',
    ),
    id: Type.String({ description: 'The id of the member, key, app or plugin install.' }),
    name: Type.String({ description: 'The name it had then.' }),
    memberId: Type.Optional(
      Type.String({ description: 'Of a member, the same; of a key or an app, the member that it acts for.' }),
    ),
  }),
);

const CauseShown = named(
  'Cause',
  Closed({
    rootEventId: nullable(Type.String({ description: 'The event that all of it began with.' })),
    parentRunId: nullable(Type.String({ description: 'The plugin run that caused it.' })),
    depth: Type.Integer({ minimum: 0, description: 'How many plugin runs led to it.' }),
    path: Type.Array(Type.String(), { description: 'The plugins of those runs, the first one first.' }),
    onBehalfOf: Type.Optional(described(ActorShown, 'Whoever called the action of the plugin that did it.')),
  }),
);

export const eventType = enumeration('EventType', eventTypes, 'What happened.');

export const envelope = {
  id: idOf(idPrefixes.event, 'Stable for the event across retries, replays and the feed.'),
  created_at: described(time, 'When it happened.'),
  workspace_id: described(uuid, 'Where it happened.'),
  sequence: Type.Integer({
    minimum: 0,
    description: 'Gap-free within the workspace; 0 in a sample, which is in no log.',
  }),
  actor: described(ActorShown, 'Who did it.'),
  cause: described(CauseShown, 'What it was caused by, where that was a plugin.'),
};

/** Of a reader's place in the log, beside the sequence. */
export const generation = Type.String({
  maxLength: 64,
  description: 'Names the history that sequences belong to: a restore of the server begins another one.',
});

export const EventShown = named(
  'Event',
  Closed({
    ...envelope,
    type: eventType,
    data: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The whole object after the change; `previous` holds the old values of the changed fields.',
    }),
  }),
);
