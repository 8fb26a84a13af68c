// Adds and removes issues of a release that is not published.
import type { ChangeSet } from '../../changes/change.ts';
import { getEntity, updated } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import type { Condition } from '../../store/page.ts';
import { listIssues, type IssueQuery } from '../issues/issues.ts';
import { issueModel } from '../issues/kind.ts';
import { withIssueVisibility } from '../issues/seen.ts';
import { selectIssues } from '../issues/select.ts';
import type { ReleaseIssuesInput } from './bodies.ts';
import { releaseIssuesMax } from './contract.ts';
import { releaseModel } from './kind.ts';
import { requireUnpublished } from './published.ts';

/** @throws ApiError not_found, conflict, validation_failed, budget_exceeded */
export async function addIssues(
  ctx: Context,
  id: string,
  { issueIds: requestedIds, filter }: ReleaseIssuesInput,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const current = await getEntity(ctx, releaseModel, id);
  requireUnpublished(current, 'its issues cannot change. Use another release');
  const selected = await selectIssues(
    withIssueVisibility(ctx),
    { ...(requestedIds && { ids: requestedIds }), ...(filter && { filter }) },
    'issueIds',
  );
  const issueIds = [...new Set([...current.issueIds, ...selected.map(({ issue }) => issue.id)])];
  if (issueIds.length > releaseIssuesMax)
    throw invalidField(filter === undefined ? 'issueIds' : 'filter', 'too_big', {
      why: `The release would have ${issueIds.length} issues.`,
      fix: `Add fewer issues: a release has at most ${releaseIssuesMax}.`,
    });
  return updated(ctx, releaseModel, current, { issueIds }, ifMatch);
}

/** Ignores issues that are not in the release or do not exist. @throws ApiError not_found, conflict */
export async function removeIssues(
  ctx: Context,
  id: string,
  names: readonly string[],
  ifMatch: number | null,
): Promise<ChangeSet> {
  const current = await getEntity(ctx, releaseModel, id);
  requireUnpublished(current, 'its issues cannot change. Use another release');
  const ids = await issueModel.idsOf(ctx, names);
  const gone = new Set(names.map((name) => ids.get(name) ?? name));
  const issueIds = current.issueIds.filter((one) => !gone.has(one));
  return updated(ctx, releaseModel, current, { issueIds }, ifMatch);
}

/** @throws ApiError not_found, and the errors of issue lists */
export async function listIssuesOf(ctx: Context, id: string, query: IssueQuery) {
  const { id: releaseId } = await getEntity(ctx, releaseModel, id);
  return listIssues(withIssueVisibility(ctx), query, {
    among: { id: releaseId, condition: isIn(releaseId) },
  });
}

function isIn(releaseId: string): Condition {
  const params = { releaseId };
  return {
    sql: `EXISTS (SELECT 1 FROM release_issues AS r
      WHERE r.workspace_id = :ws AND r.release_id = :releaseId AND r.issue_id = issues.id)`,
    params,
    listed: {
      sql: 'SELECT issue_id AS listed_id, created_at AS listed_at FROM release_issues WHERE workspace_id = :ws AND release_id = :releaseId',
      params,
    },
  };
}
