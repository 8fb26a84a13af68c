// Notifications about comments: mentions, replies, and comments on subscribed issues.
import type { EntityResponse } from '../../contract/contract.ts';
import type { Context } from '../../context.ts';
import type { EventRow } from '../../events/event.ts';
import { tenantStatement } from '../../store/statement.ts';
import type { comment } from '../comments/contract.ts';
import {
  emptyNews,
  excerptOf,
  findIssue,
  followersOf,
  identifierOf,
  nameOfActor,
  notify,
  type News,
} from './news.ts';

type CommentResponse = EntityResponse<typeof comment>;

const byPeople = "author_kind = 'user' AND deleted_at IS NULL";
const writersIn = tenantStatement<{ author_id: string }>(
  'comments.writers_in_thread',
  `SELECT author_id FROM comments WHERE workspace_id = :ws AND id = :first AND ${byPeople}
   UNION ALL SELECT author_id FROM comments INDEXED BY comments_replies WHERE workspace_id = :ws AND parent_id = :first AND parent_id IS NOT NULL
     AND ${byPeople}`,
);

/** An edit notifies only newly mentioned members. */
export async function newsOfComment(ctx: Context, event: EventRow): Promise<News | null> {
  const response = event.data as object as CommentResponse & { previous?: Partial<CommentResponse> };
  const { previous } = response;
  const earlier = new Set((previous ? (previous.mentions ?? response.mentions) : []).map(({ id }) => id));
  const mentioned = response.mentions.map(({ id }) => id).filter((id) => !earlier.has(id));
  if (previous && mentioned.length === 0) return null;
  const issue = await findIssue(ctx, response.issue.id);
  if (!issue) return null;

  const news = emptyNews(issue, { kind: 'comment', id: response.id });
  const [who, identifier] = [nameOfActor(ctx, event), identifierOf(ctx, issue)];
  const body = excerptOf(response.body);
  const title = `${who} mentioned you in ${identifier}`;
  notify(news, mentioned, { reason: 'mentioned', kind: 'issue_mentioned', title, body });
  for (const id of mentioned) news.follows.set(id, 'mentioned');
  if (previous) return news;

  if (response.parentId !== null) {
    const words = `${who} replied on ${identifier}`;
    const writers = await ctx.store.read(ctx.scope, writersIn, { first: response.parentId });
    const tiding = { reason: 'replied', kind: 'comment_replied', title: words, body } as const;
    notify(
      news,
      writers.map(({ author_id }) => author_id),
      tiding,
    );
  }
  const words = `${who} commented on ${identifier}`;
  notify(news, await followersOf(ctx, issue), {
    reason: 'subscribed',
    kind: 'comment_added',
    title: words,
    body,
  });
  if (response.author.kind === 'user' && !news.follows.has(response.author.id))
    news.follows.set(response.author.id, 'commented');
  return news;
}
