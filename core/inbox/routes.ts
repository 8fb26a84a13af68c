// The inbox as a resource: each member's own.
import { Type } from 'typebox';
import { updateBodyWith } from '../contract/schemas.ts';
import { defineRoute } from '../http/route.ts';
import { Closed, enumeration, named } from '../lib/schema.ts';
import { defineResource } from '../resource/define.ts';
import { inboxItem } from './contract.ts';
import { getItem, holderOf, listInbox, readAll, readAtOnce, unreadCount, updateItem } from './inbox.ts';
import { inboxItemKind } from './kind.ts';
import { getPreferences, InboxPreferences, InboxPreferencesPut, putPreferences } from './preferences.ts';

const shelf = (what: string) =>
  Type.Optional({
    ...enumeration(
      'InboxShelf',
      ['exclude', 'include', 'only'] as const,
      `Whether ${what} are listed as well, or alone.`,
    ),
    default: 'exclude',
  });

const v1 = '/api/v1/inbox';

const routes = [
  defineRoute({
    method: 'GET',
    path: `${v1}/unread-count`,
    name: 'inbox.unread-count',
    summary: "How many items of one's own inbox are unread",
    scope: 'inbox:read',
    limit: 'read',
    responses: {
      200: named(
        'InboxUnread',
        Closed({ unread: Type.Integer({ description: 'Those that are neither archived nor snoozed.' }) }),
      ),
    },
    errors: ['forbidden'],
    read: (ctx) => unreadCount(ctx),
  }),
  defineRoute({
    method: 'POST',
    path: `${v1}/read-all`,
    name: 'inbox.read-all',
    summary: "Read all that is unread in one's own inbox",
    description: `Up to ${readAtOnce} at once; what comes meanwhile stays unread.`,
    scope: 'inbox:write',
    writes: ['readAt'],
    limit: 'write',
    responses: {
      200: named(
        'InboxRead',
        Closed({
          read: Type.Integer({ description: 'How many were read.' }),
          hasMore: Type.Boolean({ description: 'Whether there are more: ask again.' }),
        }),
      ),
    },
    errors: ['forbidden'],
    write: (ctx) => readAll(ctx),
  }),
  defineRoute({
    method: 'GET',
    path: `${v1}/preferences`,
    name: 'inbox.preferences.get',
    summary: 'Of which reasons the calling member hears',
    scope: 'inbox:read',
    limit: 'read',
    responses: { 200: InboxPreferences },
    errors: ['forbidden'],
    read: (ctx) => getPreferences(ctx, holderOf(ctx)),
  }),
  defineRoute({
    method: 'PUT',
    path: `${v1}/preferences`,
    name: 'inbox.preferences.put',
    summary: 'Say of which reasons the calling member hears',
    description:
      'A reason that is left out is on. What the system did by itself always reaches admins and owners.',
    scope: 'inbox:write',
    limit: 'write',
    body: InboxPreferencesPut,
    example: { subscribed: false },
    responses: { 200: InboxPreferences },
    errors: ['forbidden'],
    write: (ctx, { body }) => putPreferences(ctx, holderOf(ctx), body),
  }),
];

export const inbox = defineResource(inboxItem, inboxItemKind, {
  query: {
    unread: Type.Optional(Type.Boolean({ description: 'Only what is unread, or only what is read.' })),
    archived: shelf('archived items'),
    snoozed: shelf('snoozed items'),
  },
  updateBody: named(
    'InboxItemUpdate',
    updateBodyWith(inboxItem, {
      read: Type.Optional(Type.Boolean({ description: 'Whether it is read.' })),
      archived: Type.Optional(
        Type.Boolean({ description: 'Whether it is put away: then it counts as read, and rests no longer.' }),
      ),
    }),
  ),
  operations: { list: (ctx, query) => listInbox(ctx, query), get: getItem, update: updateItem },
  routes,
});
