// Public schema of an event. Spec: docs/spec/events.md › The envelope.
import { Type } from 'typebox';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import {
  Closed,
  described,
  enumeration,
  idOf,
  namedSchema,
  nullable,
  time,
  uuid,
} from '../../../platform/lib/schema.ts';
import { eventTypes } from '../catalogue.ts';

export const ActorResponse = namedSchema(
  'Actor',
  Closed({
    kind: enumeration('ActorKind', ['user', 'api_key', 'app', 'plugin', 'system'], 'Type of the actor.'),
    id: Type.String({ description: 'Id of the member, API key, app or plugin install.' }),
    name: Type.String({ description: 'Name of the actor at the time of the event.' }),
    memberId: Type.Optional(
      Type.String({ description: 'Id of the member, or of the member that the API key or app acts for.' }),
    ),
  }),
);

const CauseResponse = namedSchema(
  'Cause',
  Closed({
    rootEventId: nullable(Type.String({ description: 'Id of the first event in the causation chain.' })),
    parentRunId: nullable(
      Type.String({ description: 'Id of the plugin run that caused the event; null if none did.' }),
    ),
    depth: Type.Integer({ minimum: 0, description: 'Number of plugin runs in the causation chain.' }),
    path: Type.Array(Type.String(), {
      description: 'Plugin installs and issues in the causation chain, oldest first, as `plg_…:iss_…`.',
    }),
    onBehalfOf: Type.Optional(described(ActorResponse, 'Actor that called the plugin action.')),
  }),
);

export const eventType = enumeration('EventType', eventTypes, 'Type of the event.');

export const envelope = {
  id: idOf(idPrefixes.event, 'Id of the event; the same in retries, replays and the feed.'),
  created_at: described(time, 'Time of the event.'),
  workspace_id: described(uuid, 'Id of the workspace.'),
  sequence: Type.Integer({
    minimum: 0,
    description: 'Position in the log of the workspace, without gaps; 0 in samples.',
  }),
  actor: described(ActorResponse, 'Actor that made the change.'),
  cause: described(CauseResponse, 'Causation chain of the event.'),
};

export const generation = Type.String({
  maxLength: 64,
  description: 'Id of the log generation that the sequences belong to; a restore starts a new one.',
});

export const EventResponse = namedSchema(
  'Event',
  Closed({
    ...envelope,
    type: eventType,
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Full object after the change; `previous` holds the old values of the changed fields.',
    }),
  }),
);
