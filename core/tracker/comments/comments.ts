// Comments. A reply joins the thread of its parent; threads are one level deep, and resolved at their first comment. Whatever
// happens to a comment moves the time of its issue, and not its version: who edits the issue is not in the way of who talks of it.
import type { ChangeSet } from '../../changes/change.ts';
import { plain, type Column } from '../../changes/columns.ts';
import { getEntity, updated } from '../../changes/operations.ts';
import { schemasOf } from '../../contract/schemas.ts';
import type { Context } from '../../context.ts';
import { defineRoute } from '../../http/route.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { Closed, idOf } from '../../lib/schema.ts';
import { authorOf } from '../../resource/author.ts';
import { defineResource } from '../../resource/define.ts';
import { kindOf } from '../../resource/kind.ts';
import { issueKind } from '../issues/kind.ts';
import { issueNumber } from '../issues/number.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp } from '../../store/store.ts';
import { comment } from './contract.ts';

/** Team id and number of the issue, read along with the comment; the number is empty until committed. */
const issuePlace: Column<string> = {
  select:
    "(SELECT i.team_id || ' ' || i.number FROM issues AS i WHERE i.workspace_id = :ws AND i.id = comments.issue_id)",
};

const commentKind = kindOf(comment, {
  kept: { issueId: plain<string>('issue_id'), issuePlace },
  shows: {
    issue({ issueId, issuePlace }, { directory }) {
      const [teamId = '', number = ''] = issuePlace.split(' ');
      return { id: issueId, identifier: `${directory.teams.get(teamId)?.key ?? ''}-${number}` };
    },
  },
  events(before, after) {
    if (!before) return ['comment.added'];
    if (after.deletedAt !== before.deletedAt) return ['comment.deleted'];
    if (after.resolvedAt !== before.resolvedAt)
      return [after.resolvedAt === null ? 'comment.unresolved' : 'comment.resolved'];
    return ['comment.updated'];
  },
  special: {
    subjectId: ({ issueId }) => issueId,
    related: (scope, _before, { issueId, updatedAt }) => ({
      last: [tenantOp(scope, moveIssue, { issueId, at: updatedAt }, { expectRows: 1 })],
    }),
    team: {
      of: ({ issuePlace }) => issuePlace.split(' ')[0]!,
      isIn: (list) =>
        `EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = :ws AND i.id = comments.issue_id AND i.team_id IN (${list}))`,
    },
    learns: {
      what: issueNumber,
      of: ({ issueId, issuePlace }) => (issuePlace.endsWith(' ') ? issueId : null),
    },
  },
});
/** Fails the batch where the issue was deleted meanwhile. */
const moveIssue = tenantStatement(
  'issues.move_by_comment',
  `UPDATE issues SET updated_at = max(updated_at, :at)
   WHERE workspace_id = :ws AND id = :issueId AND deleted_at IS NULL`,
);

type Comment = NonNullable<Awaited<ReturnType<typeof commentKind.find>>>;

const resolution = (verb: 'resolve' | 'unresolve', summary: string) =>
  defineRoute({
    method: 'POST',
    path: `/api/v1/comments/{id}/${verb}`,
    name: `comments.${verb}`,
    summary,
    scope: 'comments:write',
    rows: 'team',
    writes: ['resolvedAt'],
    limit: 'write',
    params: Closed({ id: idOf(comment.id) }),
    errors: ['conflict'],
    responses: { 200: schemasOf(comment).shown },
    write: (ctx, { params, ifMatch }) => setResolved(ctx, params.id, verb === 'resolve', ifMatch),
  });

export const comments = defineResource(comment, commentKind, {
  async where(ctx, _query, issueId) {
    const issue = await getEntity(ctx, issueKind, issueId ?? '');
    return [{ sql: 'issue_id = :issueId', params: { issueId: issue.id } }];
  },
  async sets(ctx, { parentId = null }, issueId) {
    const issue = await getEntity(ctx, issueKind, issueId ?? '');
    return {
      issueId: issue.id,
      issuePlace: `${issue.teamId} ${issue.number ?? ''}`,
      parentId: await threadOf(ctx, issue.id, parentId),
      ...authorOf(ctx, 'author'),
    };
  },
  admits: (ctx, { issueId }) => getEntity(ctx, issueKind, issueId),
  check({ actor }, { authorId }, before) {
    if (before && authorId !== (actor.memberId ?? actor.id))
      throw new ApiError('forbidden', 'Only its author may change a comment.');
  },
  routes: [
    resolution('resolve', 'Resolve a thread at its first comment'),
    resolution('unresolve', 'Open a resolved thread again'),
  ],
});

async function threadOf(ctx: Context, issueId: string, parentId: string | null): Promise<string | null> {
  if (parentId === null) return null;
  const parent = await commentKind.find(ctx, parentId);
  if (!parent || parent.deletedAt !== null || parent.issueId !== issueId)
    throw invalidField('parentId', 'not_found', {
      why: `There is no comment ${parentId} on this issue.`,
    });
  return parent.parentId ?? parent.id;
}

/** The comments of a deleted issue are as gone as the issue. @throws ApiError not_found */
async function findComment(ctx: Context, id: string): Promise<Comment> {
  const found = await getEntity(ctx, commentKind, id);
  await getEntity(ctx, issueKind, found.issueId);
  return found;
}

async function setResolved(
  ctx: Context,
  id: string,
  resolved: boolean,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const found = await findComment(ctx, id);
  if (found.parentId !== null)
    throw new ApiError('conflict', `A thread is resolved at its first comment, ${found.parentId}.`);
  const already = (found.resolvedAt !== null) === resolved;
  const patch = resolved
    ? { resolvedAt: ctx.nowMs(), ...authorOf(ctx, 'resolvedBy') }
    : { resolvedAt: null, resolvedByKind: null, resolvedById: null, resolvedByName: null };
  return updated(ctx, commentKind, found, already ? {} : patch, ifMatch);
}
