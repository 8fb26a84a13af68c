// Turns each event into subscriptions and inbox items, exactly once. Members are not notified of their own
// changes, of reasons they switched off, or of deleted objects.
import type { Change } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { renderData, type EventRow } from '../../events/event.ts';
import { isPresent } from '../../identity/members/roles.ts';
import { membershipOf } from '../../identity/membership.ts';
import { listeningTo } from '../../inbox/preferences.ts';
import { nothing, type ReactionResult, type Reaction } from '../../reactions/reaction.ts';
import { rowOf, subscriptionChange } from '../subscribers/kind.ts';
import { itemChange } from './items.ts';
import type { News, Reason, Tiding } from './news.ts';
import { newsOfComment } from './of-comments.ts';
import { newsOfIssue } from './of-issues.ts';
import { newsOfProject, newsOfSla } from './of-others.ts';

type Teller = (ctx: Context, event: EventRow) => Promise<News | null>;

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
  ...{ id, type, entityId, subjectId, createdAt, actor, cause },
});

async function answerTo(ctx: Context, event: EventRow, news: News): Promise<ReactionResult> {
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
function teamsIn({ data }: Pick<EventRow, 'data'>): (string | undefined)[] {
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
