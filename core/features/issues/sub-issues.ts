// Parents of issues, and the manual order of the sub-issues of a parent. A new sub-issue comes last without
// reading the others: its first rank is the time-ordered part of an id, read as a thirteen-digit number,
// which is greater than every earlier rank.
import type { Change, ChangeSet } from '../../kernel/changes/change.ts';
import { getEntity, requireVersion } from '../../kernel/changes/operations.ts';
import { readOrder } from '../../kernel/changes/find.ts';
import type { Context } from '../../kernel/context.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { isBetween, rankBetween, rankLengthMax, ranksBelow } from '../../platform/lib/rank.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { type IssueReorderInput, readPosition, type PositionExtras, type OrderPosition } from './bodies.ts';
import { issue as contract } from './contract.ts';
import { issueModel, type Issue, type IssueResponse } from './model.ts';
import { issueTable } from './tables.ts';

/** @param id newly created id */
export function lastRank(id: string): string {
  return `m${timeOrdered(id)}`;
}

/** Returns the time-ordered part of an id, which is unique among the ids of this process. */
const timeOrdered = (id: string): string => id.slice(4, 17);

/**
 * Suffix of a computed rank. It is unique, so an issue that gets an old rank back by a restore or an undo
 * shares it with no other issue. The last character ensures that no rank ends in a zero.
 */
const tailOf = ({ ids }: Context): string => `${timeOrdered(ids.next(contract.id))}V`;

interface Sibling {
  readonly id: string;
  readonly sub_order: string;
}
const amongSiblings = `FROM issues INDEXED BY issues_sub_order WHERE workspace_id = :ws AND parent_id = :parentId AND parent_id IS NOT NULL
     AND deleted_at IS NULL`;
const next = tenantStatement<Sibling>(
  'issues.next_sibling',
  `SELECT id, sub_order ${amongSiblings} AND id <> :id AND (sub_order, id) > (:rank, :after) ORDER BY sub_order, id LIMIT 1`,
);
const previous = tenantStatement<Sibling>(
  'issues.previous_sibling',
  `SELECT id, sub_order ${amongSiblings} AND id <> :id AND (sub_order, id) < (:rank, :before)
   ORDER BY sub_order DESC, id DESC LIMIT 1`,
);
const within = tenantStatement<Sibling>(
  'issues.siblings',
  `SELECT id, sub_order ${amongSiblings} AND sub_order >= :from AND sub_order < :until ORDER BY sub_order, id`,
);
const twins = tenantStatement<{ sub_order: string }>(
  'issues.siblings_of_one_rank',
  `SELECT sub_order ${amongSiblings} GROUP BY sub_order HAVING count(*) > 1 LIMIT 1`,
);

/** Greater than every rank. */
const end = '~';
/** Length of the shared prefix within which siblings get shorter ranks when a rank is too long. */
const sharedChars = 18;
/** Start of the ranks when all are computed again; less than the rank of any issue created later. */
const first = 'a0';

/**
 * Places an issue before or after a sibling, or at an end.
 * @throws ApiError not_found, conflict, validation_failed
 */
export async function reorderIssue(
  ctx: Context,
  id: string,
  input: IssueReorderInput,
  ifMatch: number | null,
): Promise<ChangeSet<IssueResponse>> {
  const issue = await getEntity(ctx, issueModel, id);
  requireVersion(issue, ifMatch);
  const request = readPosition(input);
  if (!request) throw invalidField('position', 'required', 'Give before, after or position.');
  const order = await readOrder(ctx, issue.parentId ?? issue.id);
  const ahead = await aheadAt(ctx, issue, request.position);
  const placed = await placedBehind(ctx, issue, ahead);
  const changes = placed.map((change) => ({ ...change, order }));
  const after = changes.find((change) => change.id === issue.id)?.after ?? issue;
  return { changes, body: issueModel.toResponse(after as Issue, ctx) };
}

/**
 * Returns the sibling that will precede the issue; null for none.
 * @throws ApiError conflict, validation_failed
 */
async function aheadAt(ctx: Context, issue: Issue, position: OrderPosition): Promise<Sibling | null> {
  const other = 'other' in position ? await findOther(ctx, issue, position) : null;
  if (issue.parentId === null)
    throw new ApiError('conflict', 'The issue has no parent. Set its parentId first.');
  if (!('other' in position) || !other)
    return position.by === 'top' ? null : previousOf(ctx, issue, { id: '', sub_order: end });
  if (other.parentId !== issue.parentId)
    throw invalidField(position.by, 'conflict', {
      why: `${position.other} is not a sub-issue of the same parent.`,
      fix: 'Use an issue that GET /api/v1/issues?parent=… lists.',
    });
  const sibling = { id: other.id, sub_order: other.subOrder ?? '' };
  return position.by === 'after' ? sibling : previousOf(ctx, issue, sibling);
}

async function previousOf(ctx: Context, { id, parentId }: Issue, other: Sibling): Promise<Sibling | null> {
  const position = { parentId, id, rank: other.sub_order, before: other.id };
  return (await ctx.store.readOne(ctx.scope, previous, position)) ?? null;
}

/** @throws ApiError validation_failed */
async function findOther(ctx: Context, { id }: Issue, { by, other }: PositionExtras): Promise<Issue> {
  const match = await issueModel.find(ctx, other);
  if (!match || match.deletedAt !== null || match.id === id)
    throw invalidField(by, 'not_found', {
      why: `There is no other issue ${other}.`,
      fix: 'Use the id or identifier of an existing issue.',
    });
  return match;
}

/**
 * Returns no changes if the issue is in position. Replaces ranks that are too long, and equal ranks, which an
 * imported file may contain.
 */
async function placedBehind(ctx: Context, issue: Issue, ahead: Sibling | null): Promise<Change[]> {
  const { parentId, subOrder } = issue;
  if (await ctx.store.readOne(ctx.scope, twins, { parentId })) return reranked(ctx, issue, ahead, '');
  const before = ahead?.sub_order ?? null;
  const after = await rankBehind(ctx, issue, ahead);
  if (subOrder !== null && isBetween(subOrder, before, after)) return [];
  const rank = rankBetween(before, after, tailOf(ctx));
  return rank.length > rankLengthMax
    ? reranked(ctx, issue, ahead, rank.slice(0, sharedChars))
    : ranked(ctx, issue, rank);
}

async function rankBehind(
  ctx: Context,
  { id, parentId }: Issue,
  ahead: Sibling | null,
): Promise<string | null> {
  const position = { parentId, id, rank: ahead?.sub_order ?? '', after: ahead?.id ?? '' };
  return (await ctx.store.readOne(ctx.scope, next, position))?.sub_order ?? null;
}

function ranked(ctx: Context, issue: Issue, subOrder: string): Change[] {
  const change = issueModel.update(issue, { subOrder }, ctx.nowMs());
  return change ? [change] : [];
}

/** @param shared prefix of the ranks to replace; empty for all */
async function reranked(
  ctx: Context,
  issue: Issue,
  ahead: Sibling | null,
  shared: string,
): Promise<Change[]> {
  const range = { parentId: issue.parentId, from: shared, until: shared + end };
  const rows = await ctx.store.read(ctx.scope, within, range);
  const order = rows.map((row) => row.id).filter((id) => id !== issue.id);
  order.splice(ahead === null ? 0 : order.indexOf(ahead.id) + 1, 0, issue.id);
  const tail = tailOf(ctx);
  const ranks = ranksBelow(shared || first, order.length);
  const match = new Map((await issueModel.findMany(ctx, order)).map((one) => [one.id, one]));
  return order.flatMap((id, at) => {
    const sibling = match.get(id);
    return sibling ? ranked(ctx, sibling, ranks[at]! + tail) : [];
  });
}

const parentDepthMax = 10;

const parentOf = issueTable.select('parent_of', ['parent_id'], ['id']);

export async function resolveParent(
  ctx: Context,
  issue: Issue | null,
  parentId: string | null,
  at: string,
): Promise<Partial<Issue>> {
  if (parentId === null) return { parentId: null, parentPlace: null, subOrder: null };
  const parent = await issueModel.find(ctx, parentId);
  if (!parent || parent.deletedAt !== null)
    throw invalidField(`${at}parentId`, 'not_found', {
      why: `There is no issue ${parentId}.`,
      fix: 'Use the id or identifier of an existing issue.',
    });
  let above: string | null = parent.id;
  for (let depth = 0; above !== null; depth++) {
    if (above === issue?.id)
      throw invalidField(`${at}parentId`, 'conflict', {
        why: 'The issue would be its own ancestor.',
        fix: 'Use an issue that is not a descendant of this one.',
      });
    if (depth >= parentDepthMax)
      throw invalidField(`${at}parentId`, 'too_big', `Nest at most ${parentDepthMax} levels of parents.`);
    above = await parentIdOf(ctx, above);
  }
  const parentPlace = `${parent.teamId} ${parent.number ?? ''}`;
  if (parent.id === issue?.parentId) return { parentId: parent.id, parentPlace };
  return { parentId: parent.id, parentPlace, subOrder: lastRank(ctx.ids.next(contract.id)) };
}

async function parentIdOf(ctx: Context, id: string): Promise<string | null> {
  const staged = ctx.staged?.find(contract.name, id) as Issue | undefined;
  if (staged) return staged.parentId;
  return (await parentOf.one(ctx.store, ctx.scope, { id }))?.parent_id ?? null;
}
