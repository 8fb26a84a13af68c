// The public shape of an event. docs/spec/events.md › The envelope.
import { Type } from 'typebox';
import { idPrefixes } from '../lib/ids.ts';
import { Closed, idOf, named, nullable, time, uuid } from '../lib/schema.ts';
import { eventTypes } from './catalogue.ts';

const ActorShown = named(
  'Actor',
  Closed({
    kind: Type.Enum(['user', 'api_key', 'plugin', 'system']),
    id: Type.String(),
    name: Type.String(),
    memberId: Type.Optional(Type.String()),
  }),
);

const CauseShown = named(
  'Cause',
  Closed({
    rootEventId: nullable(Type.String()),
    parentRunId: nullable(Type.String()),
    depth: Type.Integer({ minimum: 0 }),
    path: Type.Array(Type.String()),
  }),
);

export const envelope = {
  id: idOf(idPrefixes.event, 'Stable for the event across retries, replays and the feed.'),
  created_at: time,
  workspace_id: uuid,
  sequence: Type.Integer({
    minimum: 0,
    description: 'Gap-free within the workspace; 0 in a sample, which is in no log.',
  }),
  actor: ActorShown,
  cause: CauseShown,
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
    type: Type.Enum([...eventTypes]),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The whole object after the change; `previous` holds the old values of the changed fields.',
    }),
  }),
);
