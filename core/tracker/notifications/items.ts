// Creates the inbox item of one member, or adds to an unread one with the same reason on the same issue.
import type { Change } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import type { EventRow } from '../../events/event.ts';
import { newItem } from '../../inbox/items.ts';
import { inboxItemModel } from '../../inbox/kind.ts';
import { authorOf } from '../../resource/author.ts';
import { tenantStatement, type SqlRow } from '../../store/statement.ts';
import { identifierOf, type News, type Tiding } from './news.ts';

const unreadLike = tenantStatement<SqlRow>(
  'inbox_items.unread_like',
  `SELECT ${inboxItemModel.select} FROM inbox_items INDEXED BY inbox_items_unread WHERE workspace_id = :ws AND member_id = :memberId AND issue_id = :issueId AND reason = :reason
     AND read_at IS NULL AND archived_at IS NULL ORDER BY id DESC LIMIT 1`,
);

export async function itemChange(
  ctx: Context,
  event: EventRow,
  { issue, target }: News,
  memberId: string,
  tiding: Tiding,
): Promise<Change> {
  const content = {
    ...tiding,
    target,
    ...authorOf({ actor: event.actor, directory: ctx.directory }, 'actor'),
  };
  const now = ctx.nowMs();
  const issueReference = issue && { id: issue.id, identifier: identifierOf(ctx, issue) };
  const like = issue && (await likeItem(ctx, event, issue.id, memberId, tiding));
  // The issue may have moved to another team since the item was created.
  const renewed = { ...content, issue: issueReference };
  const grown =
    like && inboxItemModel.update(like, { ...renewed, count: like.count + 1, happenedAt: now }, now);
  if (grown) return grown;
  return newItem({ ...renewed, memberId, issueId: issue?.id ?? null }, { ids: ctx.ids, nowMs: now });
}

/**
 * Finds an item to update. Only events of the issue itself are grouped, because they are processed one after
 * the other: events processed together would read the same count.
 */
async function likeItem(
  ctx: Context,
  event: EventRow,
  issueId: string,
  memberId: string,
  { reason }: Tiding,
) {
  if ((event.subjectId ?? event.entityId) !== issueId) return undefined;
  const row = await ctx.store.readOne(ctx.scope, unreadLike, { memberId, issueId, reason });
  return row && inboxItemModel.fromRow(row);
}
