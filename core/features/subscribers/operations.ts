// Subscribers of issues: list, and subscribe by request. Assignees, commenters and mentioned members are
// subscribed automatically (../notifications).
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { cursorOf, type PageParameters } from '../../kernel/changes/list.ts';
import { getEntity, requireVersion } from '../../kernel/changes/operations.ts';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import type { Context } from '../../kernel/context.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { member } from '../people/contract.ts';
import { isPresent } from '../people/index.ts';
import { decodeCursor, encodeCursor } from '../../platform/lib/cursor.ts';
import { notFound } from '../../platform/lib/errors/errors.ts';
import { Closed, limitDefault, nameOf, pageQuery } from '../../platform/lib/schema.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { issue } from '../issues/contract.ts';
import { issueFiltering, issueModel } from '../issues/index.ts';
import { subscriber } from './contract.ts';
import {
  rowOf,
  rowsOf,
  toSubscriberResponse,
  sinceOf,
  subscriberModel,
  subscriptionChange,
  type Subscriber,
} from './model.ts';

const params = Closed({ id: nameOf(issue) });
const one = {
  path: '/api/v1/subscribers/{id}/{memberId}',
  params: Closed({
    id: nameOf(issue),
    memberId: nameOf(member),
  }),
  scope: 'issues:write',
  rows: 'team',
  writes: ['subscribers'],
  limit: 'write',
} as const;

/**
 * Reads all subscribers and then slices a page, because they are few and the creator may have no row.
 * @throws ApiError invalid_cursor
 */
async function listSubscribers(ctx: Context, id: string, query: PageParameters) {
  const issue = await getEntity(ctx, issueModel, id);
  const list = `${ctx.workspaceId} subscribers ${issue.id}`;
  const after = cursorOf(query);
  const seen = after === undefined ? [] : decodeCursor(ctx.sealing, list, after);
  const limit = query.limit ?? limitDefault;
  const isBehind = (row: Subscriber): boolean =>
    after === undefined ||
    sinceOf(row) > Number(seen[0]) ||
    (sinceOf(row) === seen[0] && row.id > String(seen[1]));
  const rows = (await rowsOf(ctx, issue)).filter(
    (row) => !row.muted && isPresent(ctx, row.memberId) && isBehind(row),
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    data: page.map((row) => toSubscriberResponse(row, ctx)),
    pageInfo: {
      hasNextPage: rows.length > limit,
      endCursor: last ? encodeCursor(ctx.sealing, list, [sinceOf(last), last.id]) : null,
    },
  };
}

/** @throws ApiError not_found, precondition_failed */
async function setSubscribed(
  ctx: Context,
  id: string,
  memberId: string,
  isSubscribed: boolean,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const issue = await getEntity(ctx, issueModel, id);
  if (!isPresent(ctx, memberId)) throw notFound();
  const known = await rowOf(ctx, issue, memberId);
  requireVersion({ id, version: known ? Math.max(1, known.version) : 0 }, ifMatch);
  const change = subscriptionChange(ctx, issue, known, { memberId, muted: !isSubscribed, reason: 'added' });
  const row = change?.after ?? known;
  return {
    changes: change ? [change] : [],
    body: isSubscribed && row ? toSubscriberResponse(row, ctx) : undefined,
  };
}

export const resource = defineResource(subscriber, subscriberModel, {
  // Events of subscribers belong to issues and are filtered like them.
  filtering: issueFiltering,
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/v1/issues/{id}/subscribers',
      name: 'subscribers.list',
      summary: 'List the subscribers of an issue, earliest first',
      scope: 'issues:read',
      rows: 'team',
      limit: 'read',
      params,
      query: Closed(pageQuery),
      responses: { 200: schemasOf(subscriber).page },
      errors: ['invalid_cursor'],
      read: (ctx, { params, query }) => listSubscribers(ctx, params.id, query),
    }),
    defineRoute({
      ...one,
      method: 'PUT',
      name: 'subscribers.add',
      summary: 'Subscribe a member to an issue',
      responses: { 200: schemasOf(subscriber).response },
      write: (ctx, { params, ifMatch }) => setSubscribed(ctx, params.id, params.memberId, true, ifMatch),
    }),
    defineRoute({
      ...one,
      method: 'DELETE',
      name: 'subscribers.remove',
      summary: 'Unsubscribe a member from an issue',
      description: 'The member stays unsubscribed until assigned or mentioned again.',
      responses: { 204: null },
      write: (ctx, { params, ifMatch }) => setSubscribed(ctx, params.id, params.memberId, false, ifMatch),
    }),
  ],
});
