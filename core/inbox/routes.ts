import { defineRoute } from '../http/route.ts';
import { Closed, pageOf, pageQuery } from '../lib/schema.ts';
import { listInbox } from './inbox.ts';
import { InboxItemShown } from './schema.ts';

export const inboxRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/inbox',
    name: 'inbox.list',
    summary: 'What the system did that somebody should look at, newest first',
    scope: 'inbox:read',
    limit: 'read',
    query: Closed(pageQuery),
    responses: { 200: pageOf(InboxItemShown) },
    errors: ['invalid_cursor'],
    read: (ctx, { query }) => listInbox(ctx, query),
  }),
];
