import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Type } from 'typebox';
import {
  Closed,
  described,
  enumeration,
  idOf,
  namedSchema,
  nullable,
  time,
} from '../../../platform/lib/schema.ts';
import { webhook } from '../endpoints/contract.ts';

const replayStatuses = ['running', 'done', 'canceled'] as const;
const only = enumeration(
  'ReplayOnly',
  ['all', 'undelivered'],
  'Events to replay; default `all`. `undelivered` omits events that were or will be delivered, and includes events missed while the endpoint was disabled.',
);

export const ReplayCreate = namedSchema(
  'ReplayCreate',
  Closed({
    since: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Only events at or after this time, RFC 3339. Give either `since` or `afterSequence`.',
      }),
    ),
    afterSequence: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Only events after this sequence; 0 replays from the first event.',
      }),
    ),
    until: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Only events before this time, RFC 3339. By default all events until now.',
      }),
    ),
    only: Type.Optional(only),
  }),
);

export const ReplayResponse = namedSchema(
  'Replay',
  Closed({
    id: idOf(idPrefixes.replay),
    webhookId: idOf(webhook.id, 'Id of the endpoint.'),
    since: nullable(described(time, 'Start time of the range; null if none.')),
    until: nullable(described(time, 'End time of the range, exclusive; null if none.')),
    afterSequence: Type.Integer({ description: 'Sequence after which the replay started.' }),
    currentSequence: Type.Integer({ description: 'Sequence of the last processed event.' }),
    lastSequence: Type.Integer({ description: 'Sequence of the last event in the range.' }),
    only,
    status: enumeration('ReplayStatus', replayStatuses, 'Status of the replay.'),
    deliveries: Type.Integer({ description: 'Number of deliveries created so far.' }),
    createdAt: described(time, 'Time of creation.'),
    finishedAt: nullable(
      described(time, 'Time at which the replay was completed or canceled; null while running.'),
    ),
  }),
);
