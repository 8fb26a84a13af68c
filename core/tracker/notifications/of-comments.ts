// Notifications about comments: mentions, replies, and comments on subscribed issues.
import type { Shown } from '../../contract/contract.ts';
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
  tell,
  type News,
} from './news.ts';

type ShownComment = Shown<typeof comment>;

const byPeople = "author_kind = 'user' AND deleted_at IS NULL";
const writersIn = tenantStatement<{ author_id: string }>(
  'comments.writers_in_thread',
  `SELECT author_id FROM comments WHERE workspace_id = :ws AND id = :first AND ${byPeople}
   UNION ALL SELECT author_id FROM comments INDEXED BY comments_replies WHERE workspace_id = :ws AND parent_id = :first AND parent_id IS NOT NULL
     AND ${byPeople}`,
);

/** An edit notifies only newly mentioned members. */
export async function newsOfComment(ctx: Context, event: EventRow): Promise<News | null> {
  const shown = event.data as object as ShownComment & { previous?: Partial<ShownComment> };
  const { previous } = shown;
  const earlier = new Set((previous ? (previous.mentions ?? shown.mentions) : []).map(({ id }) => id));
  const mentioned = shown.mentions.map(({ id }) => id).filter((id) => !earlier.has(id));
  if (previous && mentioned.length === 0) return null;
  const issue = await findIssue(ctx, shown.issue.id);
  if (!issue) return null;

  const news = emptyNews(issue, { kind: 'comment', id: shown.id });
  const [who, identifier] = [nameOfActor(ctx, event), identifierOf(ctx, issue)];
  const body = excerptOf(shown.body);
  const title = `${who} mentioned you in ${identifier}`;
  tell(news, mentioned, { reason: 'mentioned', kind: 'issue_mentioned', title, body });
  for (const id of mentioned) news.follows.set(id, 'mentioned');
  if (previous) return news;

  if (shown.parentId !== null) {
    const words = `${who} replied on ${identifier}`;
    const writers = await ctx.store.read(ctx.scope, writersIn, { first: shown.parentId });
    const tiding = { reason: 'replied', kind: 'comment_replied', title: words, body } as const;
    tell(
      news,
      writers.map(({ author_id }) => author_id),
      tiding,
    );
  }
  const words = `${who} commented on ${identifier}`;
  tell(news, await followersOf(ctx, issue), {
    reason: 'subscribed',
    kind: 'comment_added',
    title: words,
    body,
  });
  if (shown.author.kind === 'user' && !news.follows.has(shown.author.id))
    news.follows.set(shown.author.id, 'commented');
  return news;
}
