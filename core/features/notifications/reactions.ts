// Turns each event into subscriptions and inbox items, exactly once. Members are not notified of their own
// changes, of reasons they switched off, or of deleted objects.
import type { Change, PlannedWrites } from '../../kernel/changes/change.ts';
import type { Context } from '../../kernel/context.ts';
import { renderData, type EventRow } from '../../kernel/events/event.ts';
import { isPresent, membershipOf } from '../people/index.ts';
import { hasNoItems, listeningTo, newItem, inboxItemModel } from '../inbox/index.ts';
import { nothing, type Reaction } from '../../kernel/event-reactions/reaction.ts';
import { rowOf, subscriptionChange } from '../subscribers/index.ts';
import {
  type News,
  type Reason,
  type Tiding,
  emptyNews,
  excerptOf,
  findIssue,
  followersOf,
  identifierOf,
  nameOfActor,
  notify,
  newsOfIssue,
} from './news.ts';
import { projectModel } from '../projects/index.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import { tenantStatement, type SqlRow } from '../../platform/store/statement.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import type { comment } from '../comments/contract.ts';

type Teller = (ctx: Context, event: EventRow) => Promise<News | null>;

interface Referred {
  readonly id?: string;
}

/** Notifies the assignee; for an unassigned issue, its subscribers. */
async function newsOfSla(ctx: Context, { type, data }: EventRow): Promise<News | null> {
  const { issue: referred, name } = data as { issue?: Referred; name?: string };
  const issue = await findIssue(ctx, referred?.id);
  if (!issue) return null;
  const news = emptyNews(issue, { kind: 'issue', id: issue.id });
  const isBreached = type === ('sla.breached' as string);
  const words = `${identifierOf(ctx, issue)} ${isBreached ? 'has missed' : 'is about to miss'} its SLA target`;
  const tiding = {
    reason: 'sla',
    kind: isBreached ? 'sla_breached' : 'sla_at_risk',
    title: typeof name === 'string' ? `${words}: ${name}` : words,
    body: issue.title,
  } as const;
  notify(news, issue.assigneeId === null ? await followersOf(ctx, issue) : [issue.assigneeId], tiding);
  return news;
}

async function newsOfProject(ctx: Context, event: EventRow): Promise<News | null> {
  const { project: referred, body } = event.data as { project?: Referred; body?: unknown };
  const project = typeof referred?.id === 'string' ? await projectModel.find(ctx, referred.id) : undefined;
  if (!project) return null;
  const news = emptyNews(null, { kind: 'project', id: project.id });
  const tiding = {
    reason: 'project_update',
    kind: 'project_update',
    title: `${nameOfActor(ctx, event)} posted an update of ${project.name}`,
    body: typeof body === 'string' ? excerptOf(body) : '',
  } as const;
  const { leadId, members } = project;
  notify(news, [...(leadId === null ? [] : [leadId]), ...members], tiding);
  return news;
}

type CommentResponse = EntityResponse<typeof comment>;

const byPeople = "author_kind = 'user' AND deleted_at IS NULL";
const writersIn = tenantStatement<{ author_id: string }>(
  'comments.writers_in_thread',
  `SELECT author_id FROM comments WHERE workspace_id = :ws AND id = :first AND ${byPeople}
   UNION ALL SELECT author_id FROM comments INDEXED BY comments_replies WHERE workspace_id = :ws AND parent_id = :first AND parent_id IS NOT NULL
     AND ${byPeople}`,
);

/** An edit notifies only newly mentioned members. */
async function newsOfComment(ctx: Context, event: EventRow): Promise<News | null> {
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

/** Notification functions by event type. */
const tellers: ReadonlyMap<string, Teller> = new Map<string, Teller>([
  ['issue.created', newsOfIssue],
  ['issue.updated', newsOfIssue],
  ['comment.added', newsOfComment],
  ['comment.updated', newsOfComment],
  ['sla.at_risk', newsOfSla],
  ['sla.breached', newsOfSla],
  ['project.update_posted', newsOfProject],
]);

export const notifying: Reaction = {
  name: 'inbox',
  subscribesTo: (type) => tellers.has(type),
  async react(ctx, event) {
    const visibleEvent = { ...event, ...facts(event), data: renderData(event) };
    const news = await tellers.get(event.type)!(ctx, visibleEvent);
    return news === null ? nothing : answerTo(ctx, visibleEvent, news);
  },
};

/** Copies the fields of an event, which are getters of a class and are not spread. */
const facts = ({ id, type, entityId, subjectId, createdAt, actor, cause }: EventRow) => ({
  id,
  type,
  entityId,
  subjectId,
  createdAt,
  actor,
  cause,
});

const unreadLike = tenantStatement<SqlRow>(
  'inbox_items.unread_like',
  `SELECT ${inboxItemModel.select} FROM inbox_items INDEXED BY inbox_items_unread WHERE workspace_id = :ws AND member_id = :memberId AND issue_id = :issueId AND reason = :reason
     AND read_at IS NULL AND archived_at IS NULL ORDER BY id DESC LIMIT 1`,
);

/** Creates the inbox item of one member, or adds to an unread one with the same reason on the same issue. */
async function itemChange(
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
  if ((event.subjectId ?? event.entityId) !== issueId || hasNoItems(ctx, issueId)) return undefined;
  const row = await ctx.store.readOne(ctx.scope, unreadLike, { memberId, issueId, reason });
  return row && inboxItemModel.fromRow(row);
}

async function answerTo(ctx: Context, event: EventRow, news: News): Promise<PlannedWrites> {
  const self = event.actor.memberId ?? event.actor.id;
  const notifications: [string, Tiding][] = [];
  for (const [memberId, tiding] of news.notifications)
    if (memberId !== self && isPresent(ctx, memberId) && (await seesTeams(ctx, event, news, memberId)))
      notifications.push([memberId, tiding]);
  const subscriptions = await subscriptionsOf(ctx, news);
  const reasons = new Map<string, Reason>(notifications.map(([memberId, { reason }]) => [memberId, reason]));
  const listening = notifications.length === 0 ? new Set<string>() : await listeningTo(ctx, reasons);
  const items: Change[] = [];
  for (const [memberId, tiding] of notifications)
    if (listening.has(memberId)) items.push(await itemChange(ctx, event, news, memberId, tiding));
  return { changes: [...subscriptions, ...items] };
}

/**
 * Returns true if a member can see the team of the issue and all teams that the event names. A guest is not
 * notified about an issue in a hidden team, since the item would become visible once the issue moves to a
 * team of theirs.
 */
async function seesTeams(ctx: Context, event: EventRow, { issue }: News, memberId: string): Promise<boolean> {
  if (!issue || ctx.directory.members.get(memberId)?.role !== 'guest') return true;
  const membership = await membershipOf(ctx.store, ctx.scope, memberId);
  const seen = membership?.rights.narrowed?.get('issues:read')?.teams ?? [];
  const keys = [ctx.directory.teams.get(issue.teamId)?.key, ...teamsIn(event)];
  return keys.every((key) => key === undefined || seen.includes(key));
}

interface OfTeam {
  readonly team?: { readonly key?: string };
  readonly issue?: { readonly identifier?: string | null };
}

/** Returns the keys of the teams that an event of an issue, or of a part of an issue, names. */
function teamsIn({ data }: { readonly data: EventRow['data'] }): (string | undefined)[] {
  const { team, issue, previous } = data as OfTeam & { readonly previous?: OfTeam };
  return [team?.key, previous?.team?.key, issue?.identifier?.split('-')[0]];
}

/** A member who unsubscribed is not subscribed again by a comment, but by an assignment or a mention. */
async function subscriptionsOf(ctx: Context, { issue, follows }: News): Promise<Change[]> {
  const changes: Change[] = [];
  for (const [memberId, reason] of follows) {
    if (!issue || !isPresent(ctx, memberId)) continue;
    const known = await rowOf(ctx, issue, memberId);
    if (known?.muted && reason === 'commented') continue;
    const change = subscriptionChange(ctx, issue, known, { memberId, muted: false, reason });
    if (change) changes.push(change);
  }
  return changes;
}
