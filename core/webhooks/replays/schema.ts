// Replays: past events delivered to an endpoint again, from a moment or a place in the log on.
import { idPrefixes } from '../../lib/ids.ts';
import { Type } from 'typebox';
import { Closed, described, enumeration, idOf, named, nullable, time } from '../../lib/schema.ts';
import { webhook } from '../endpoints/contract.ts';

const replayStatuses = ['running', 'done', 'canceled'] as const;
const only = enumeration(
  'ReplayOnly',
  ['all', 'undelivered'],
  'By default `all`; `undelivered` leaves out what the endpoint has got or is about to get; it also finds what it never was sent, being switched off.',
);

export const ReplayCreate = named(
  'ReplayCreate',
  Closed({
    since: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'ISO 8601 time: events of then or later. This or afterSequence.',
      }),
    ),
    afterSequence: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Events after this sequence; 0 replays from the first on.' }),
    ),
    until: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'ISO 8601 time: events before it. By default all until now.',
      }),
    ),
    only: Type.Optional(only),
  }),
);

export const ReplayShown = named(
  'Replay',
  Closed({
    id: idOf(idPrefixes.replay),
    webhookId: idOf(webhook.id, 'The endpoint that it goes to.'),
    since: nullable(described(time, 'Events of then or later.')),
    until: nullable(described(time, 'Events before then.')),
    afterSequence: Type.Integer({ description: 'Sequence of the event after which it began.' }),
    currentSequence: Type.Integer({ description: 'Sequence of the last event that it has looked at.' }),
    lastSequence: Type.Integer({ description: 'Sequence of the last event of its range.' }),
    only,
    status: enumeration('ReplayStatus', replayStatuses, 'How far it has come.'),
    deliveries: Type.Integer({ description: 'Made so far.' }),
    createdAt: described(time, 'When it was asked for.'),
    finishedAt: nullable(described(time, 'When it was done or canceled.')),
  }),
);
