import { Type } from 'typebox';
import { defineRoute } from '../../http/route.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Closed, inputForm, idOf, pageQuery, pageWith } from '../../../platform/lib/schema.ts';
import { rangeQuery } from '../log/range.ts';
import { getEvent, listEvents } from './feed.ts';
import { EventResponse, generation } from './schema.ts';

export const eventRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/events',
    name: 'events.list',
    summary: 'Read the event feed, oldest first',
    description:
      'Returns the ids, payloads and sequences that webhooks carry. `after` is an event id, a sequence (with the `generation` it was read in) or a cursor. If a restore removed that position from the log, the error `history_changed` names the sequence to continue after.',
    scope: 'events:read',
    limit: 'read',
    query: Closed({
      ...pageQuery,
      generation: Type.Optional(generation),
      ...rangeQuery,
      types: Type.Optional(
        Type.String({
          maxLength: 2000,
          description: 'Event types or patterns such as `issue.*`, comma-separated.',
          [inputForm]: 'eventPatterns',
        }),
      ),
    }),
    responses: { 200: pageWith('EventFeedPage', EventResponse, { generation }) },
    errors: ['invalid_cursor', 'history_changed'],
    read: (ctx, { query }) => listEvents(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/events/{id}',
    name: 'events.get',
    summary: 'Get an event',
    scope: 'events:read',
    limit: 'read',
    params: Closed({ id: idOf(idPrefixes.event) }),
    responses: { 200: EventResponse },
    read: (ctx, { params }) => getEvent(ctx, params.id),
  }),
];
