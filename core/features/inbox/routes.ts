import { Type } from 'typebox';
import { updateBodyWith } from '../../kernel/contract/schemas.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { requireMember } from '../../kernel/rights/rights.ts';
import { Closed, enumeration, namedSchema, nullable } from '../../platform/lib/schema.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { inboxItem } from './contract.ts';
import { getItem, listInbox, readAll, readAtOnce, updateItem } from './operations.ts';
import { inboxItemModel } from './model.ts';
import { unreadCount } from './unread.ts';
import { getPreferences, InboxPreferences, InboxPreferencesPut, putPreferences } from './preferences.ts';

const shelf = (what: string) =>
  Type.Optional({
    ...enumeration(
      'InboxShelf',
      ['exclude', 'include', 'only'] as const,
      `Treatment of ${what}: \`exclude\` (default) omits them, \`include\` adds them, \`only\` omits all others.`,
    ),
    default: 'exclude',
  });

const v1 = '/api/v1/inbox';

const routes = [
  defineRoute({
    method: 'GET',
    path: `${v1}/unread-count`,
    name: 'inbox.unread-count',
    summary: 'Count the unread items of your inbox',
    description:
      'Returns a marker of the state of the inbox as `asOf`. A later request with it as `changedSince` returns if the inbox has changed since, at a lower cost than a list.',
    scope: 'inbox:read',
    limit: 'read',
    query: Closed({
      changedSince: Type.Optional(
        Type.String({ maxLength: 300, description: '`asOf` of an earlier response for this inbox.' }),
      ),
    }),
    responses: {
      200: namedSchema(
        'InboxUnread',
        Closed({
          unread: Type.Integer({
            description: 'Number of unread items that are neither archived nor snoozed.',
          }),
          changed: nullable(
            Type.Boolean({
              description:
                'True if an item was created or changed, or the number of unread items differs, since `changedSince`; null without `changedSince`.',
            }),
          ),
          asOf: Type.String({
            description: 'Opaque marker of this state of the inbox, for `changedSince` of a later request.',
          }),
        }),
      ),
    },
    errors: ['forbidden', 'invalid_cursor'],
    read: (ctx, { query }) => unreadCount(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: `${v1}/read-all`,
    name: 'inbox.read-all',
    summary: 'Mark all items of your inbox as read',
    description: `Marks up to ${readAtOnce} items per request; items created in the meantime stay unread.`,
    scope: 'inbox:write',
    writes: ['readAt'],
    limit: 'write',
    responses: {
      200: namedSchema(
        'InboxRead',
        Closed({
          read: Type.Integer({ description: 'Number of items marked as read.' }),
          hasMore: Type.Boolean({ description: 'True if unread items are left; repeat the request.' }),
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
    summary: 'Get your notification preferences',
    scope: 'inbox:read',
    limit: 'read',
    responses: { 200: InboxPreferences },
    errors: ['forbidden'],
    read: (ctx) => getPreferences(ctx, requireMember(ctx)),
  }),
  defineRoute({
    method: 'PUT',
    path: `${v1}/preferences`,
    name: 'inbox.preferences.put',
    summary: 'Replace your notification preferences',
    description:
      'Omitted reasons are switched on. Notifications about system actions always reach admins and owners.',
    scope: 'inbox:write',
    limit: 'write',
    body: InboxPreferencesPut,
    example: { subscribed: false },
    responses: { 200: InboxPreferences },
    errors: ['forbidden'],
    write: (ctx, { body }) => putPreferences(ctx, requireMember(ctx), body),
  }),
];

export const inbox = defineResource(inboxItem, inboxItemModel, {
  query: {
    unread: Type.Optional(
      Type.Boolean({ description: 'True for unread items only, false for read items only.' }),
    ),
    archived: shelf('archived items'),
    snoozed: shelf('snoozed items'),
  },
  updateBody: namedSchema(
    'InboxItemUpdate',
    updateBodyWith(inboxItem, {
      read: Type.Optional(Type.Boolean({ description: 'True to mark the item as read, false as unread.' })),
      archived: Type.Optional(
        Type.Boolean({
          description:
            'True to archive the item, which also marks it as read and ends a snooze; false to unarchive it.',
        }),
      ),
    }),
  ),
  operations: { list: (ctx, query) => listInbox(ctx, query), get: getItem, update: updateItem },
  routes,
});
