// Storage of subscribers: one row per member and issue, with a derived id. The creator of an issue is
// subscribed without a row, so that creating issues stays cheap; a muted row records that a member
// unsubscribed.
import { flag, plain } from '../../kernel/changes/operations.ts';
import type { Change } from '../../kernel/changes/change.ts';
import type { Context, View } from '../../kernel/context.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { derivedId } from '../../platform/lib/ids.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { defineList } from '../../kernel/changes/sources.ts';
import { type Issue, issueModel, issueOfPart, partOfIssue, linkToIssue } from '../issues/index.ts';
import { subscriber } from './contract.ts';
import { subscriberTable } from './tables.ts';

const part = partOfIssue('subscribers');

export const subscriberModel = modelOf(subscriber, {
  stored: { ...part.stored, muted: flag('muted') },
  shows: { issue: issueOfPart },
  columns: { memberId: plain('member_id') },
  events: (_before, { muted }) => [muted ? 'issue.unsubscribed' : 'issue.subscribed'],
  ...part.options,
  withoutPrevious: true,
});

export type Subscriber = NonNullable<Awaited<ReturnType<typeof subscriberModel.find>>>;
type Reason = EntityResponse<typeof subscriber>['reason'];

const ofIssue = subscriberTable.select('of_issue', ['id'], ['issue_id']);
const idsOfIssue = defineList<string>(issueModel.source, 'subscribers', 'issue_id');

/** Returns the ids of all stored rows of an issue. */
function idsOf({ store, scope, entities }: Context, issueId: string): Promise<readonly string[] | null> {
  return entities.through(idsOfIssue, scope, issueId, async () =>
    (await ofIssue.all(store, scope, { issue_id: issueId })).map(({ id }) => id),
  );
}

/** Returns all rows of an issue, muted ones and the creator included, oldest first. */
export async function rowsOf(ctx: Context, issue: Issue): Promise<readonly Subscriber[]> {
  const rows = await subscriberModel.findMany(ctx, (await idsOf(ctx, issue.id)) ?? []);
  const creator = creatorOf(issue);
  const all = creator && !rows.some(({ id }) => id === creator.id) ? [creator, ...rows] : rows;
  return [...all].sort((a, b) => sinceOf(a) - sinceOf(b) || (a.id < b.id ? -1 : 1));
}

/** Returns the sort key of a subscriber: a creator without a row precedes all others. */
export function sinceOf({ createdAt, version }: Subscriber): number {
  return version === 0 ? createdAt - 1 : createdAt;
}

/** Returns a virtual row for the creator; stored rows have a version above 0. */
function creatorOf(issue: Issue): Subscriber | null {
  if (issue.creatorKind !== 'user') return null;
  return { ...subscriberOf(issue, issue.creatorId, 'created', issue.createdAt), version: 0 };
}

function subscriberOf(issue: Issue, memberId: string, reason: Reason, at: number) {
  const id = derivedId(subscriber.id, issue.id, memberId);
  const times = { createdAt: at, updatedAt: at };
  return { id, ...linkToIssue(issue), memberId, reason, muted: false, ...times };
}

/** Shows the creator without a row like other subscribers. */
export function toSubscriberResponse(row: Subscriber, view: View): EntityResponse<typeof subscriber> {
  return subscriberModel.toResponse({ ...row, version: Math.max(1, row.version) }, view);
}

/** Returns the row of a member, or the virtual row of the creator; undefined if neither row exists. */
export async function rowOf(ctx: Context, issue: Issue, memberId: string): Promise<Subscriber | undefined> {
  const id = derivedId(subscriber.id, issue.id, memberId);
  // A plugin run must find the row, so that its read is recorded.
  const ids = ctx.staged ? null : ctx.entities.get(idsOfIssue, ctx.scope, issue.id);
  const stored = ids?.includes(id) === false ? undefined : await subscriberModel.find(ctx, id);
  const creator = creatorOf(issue);
  return stored ?? (creator?.memberId === memberId ? creator : undefined);
}

/** Returns the change that subscribes or unsubscribes a member; null if nothing changes. */
export function subscriptionChange(
  ctx: Context,
  issue: Issue,
  known: Subscriber | undefined,
  to: { readonly memberId: string; readonly muted: boolean; readonly reason: Reason },
): (Change & { readonly after: Subscriber }) | null {
  const { memberId, muted, reason } = to;
  if ((known?.muted ?? true) === muted) return null;
  const now = ctx.nowMs();
  if (known && known.version > 0)
    return subscriberModel.update(known, muted ? { muted } : { muted, reason }, now);
  return subscriberModel.create({ ...subscriberOf(issue, memberId, known?.reason ?? reason, now), muted });
}
