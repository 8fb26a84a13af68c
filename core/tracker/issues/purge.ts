// Removes a deleted issue for good, with its comments. Its events stay in the log, for the history, the audit
// log and consumers.
import type { ChangeSet } from '../../changes/change.ts';
import { requireVersion } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { callingMember, isAdmin } from '../../identity/members/roles.ts';
import { ApiError, notFound } from '../../lib/errors.ts';
import { requirePerson } from '../../rights/person.ts';
import { tenantStatement } from '../../store/statement.ts';
import { issueModel } from './kind.ts';

const childOf = tenantStatement<{ id: string }>(
  'issues.child_of',
  'SELECT id FROM issues WHERE workspace_id = :ws AND parent_id = :id AND parent_id IS NOT NULL LIMIT 1',
);

/** @throws ApiError forbidden, not_found, conflict, precondition_failed */
export async function purgeIssue(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const issue = await issueModel.find(ctx, id);
  if (!issue) throw notFound();
  requirePerson(ctx, 'purge issues');
  if (!isAdmin(await callingMember(ctx)))
    throw new ApiError(
      'forbidden',
      'Only owners and admins of the workspace can purge issues. Ask one of them.',
    );
  requireVersion(issue, ifMatch);
  if (issue.deletedAt === null)
    throw new ApiError('conflict', 'Delete the issue first. A purged issue cannot be restored.');
  await requireNoChild(ctx, issue.id);
  return { changes: [issueModel.purge(issue)], body: undefined };
}

/**
 * A deleted sub-issue prevents the purge as well, because deleted issues cannot get another parent.
 * @throws ApiError conflict
 */
async function requireNoChild(ctx: Context, id: string): Promise<void> {
  const row = await ctx.store.readOne(ctx.scope, childOf, { id });
  if (!row) return;
  const child = await issueModel.find(ctx, row.id);
  // The error must not describe a sub-issue that the caller cannot see.
  if (!child)
    throw new ApiError(
      'conflict',
      'The issue has a sub-issue that you cannot see. That sub-issue must be purged or get another parent first.',
    );
  const { identifier } = issueModel.wire(child, ctx);
  throw new ApiError(
    'conflict',
    child.deletedAt === null
      ? `${identifier} has this issue as its parent. Give ${identifier} another parent, or delete and purge it first.`
      : `The deleted issue ${identifier} has this issue as its parent. Purge ${identifier} first, or restore it and give it another parent.`,
  );
}
