import { Type } from 'typebox';
import { defineRoute } from '../http/route.ts';
import { idPrefixes } from '../lib/ids.ts';
import { Closed, idOf, pageOf, pageQuery } from '../lib/schema.ts';
import { getEvent, listEvents } from './feed.ts';
import { EventShown } from './schema.ts';

export const eventRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/events',
    name: 'events.list',
    summary: 'Read the event feed, oldest first',
    description:
      'The same ids, payloads and sequences as webhooks carry. `after` takes an event id, a sequence or a cursor.',
    scope: 'events:read',
    limit: 'read',
    query: Closed({
      ...pageQuery,
      types: Type.Optional(
        Type.String({ maxLength: 2000, description: 'Event types or `issue.*`, comma-separated.' }),
      ),
    }),
    responses: { 200: pageOf(EventShown) },
    errors: ['invalid_cursor'],
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
    responses: { 200: EventShown },
    read: (ctx, { params }) => getEvent(ctx, params.id),
  }),
];
