// Issues by external id: get, and an idempotent upsert for synchronization with another tracker. An external
// id stays with its issue while the issue is deleted, until it is purged.
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { updated } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { ApiError, invalidField, notFound } from '../../platform/lib/errors/errors.ts';
import { externalTextMax, type IssueUpsertInput } from './bodies.ts';
import { idOfExternal, issueLocation, planIssue, type ExternalReference } from './creation.ts';
import { issueModel, type Issue, type IssueResponse } from './model.ts';
import { resolvePatch, teamOf } from './references/references.ts';

export async function getExternal(ctx: Context, reference: ExternalReference): Promise<IssueResponse> {
  const id = await idOfExternal(ctx, reference);
  const issue = id === undefined ? undefined : await issueModel.find(ctx, id);
  if (!issue || issue.deletedAt !== null) throw notFound();
  return issueModel.wire(issue, ctx);
}

/** Creates the issue, or updates the fields in the body. @throws ApiError */
export async function putExternal(
  ctx: Context,
  reference: ExternalReference,
  input: IssueUpsertInput,
  ifMatch: number | null,
): Promise<ChangeSet<IssueResponse>> {
  for (const name of ['source', 'externalId'] as const)
    if (reference[name].length > externalTextMax)
      throw invalidField(name, 'too_long', `Give up to ${externalTextMax} characters.`);
  const id = await idOfExternal(ctx, reference);
  const issue = id === undefined ? undefined : await issueModel.find(ctx, id);
  if (issue) return changed(ctx, issue, input, ifMatch);
  if (ifMatch !== null)
    throw new ApiError(
      'precondition_failed',
      'No issue has this external id. Leave If-Match out to create one.',
    );
  const { source: externalSource, externalId } = reference;
  const created = await planIssue(ctx, { ...input, externalSource, externalId }, '');
  return {
    changes: [created],
    body: issueModel.wire(created.after, ctx),
    status: 201,
    location: issueLocation(ctx, created.id),
  };
}

async function changed(
  ctx: Context,
  issue: Issue,
  { team, teamKey, teamId, ...patch }: IssueUpsertInput,
  ifMatch: number | null,
): Promise<ChangeSet<IssueResponse>> {
  if (issue.deletedAt !== null)
    throw new ApiError(
      'conflict',
      `${issue.id} has this external id and is deleted. Restore it (POST /issues/{id}/restore), or purge it (POST /issues/{id}/purge).`,
    );
  const teamInput = { ...(team && { team }), ...(teamKey && { teamKey }), ...(teamId && { teamId }) };
  if (Object.keys(teamInput).length > 0 && teamOf(ctx, teamInput, '').id !== issue.teamId)
    throw invalidField(Object.keys(teamInput)[0]!, 'conflict', {
      why: `The issue belongs to the team ${ctx.directory.teams.get(issue.teamId)?.key ?? ''}, and an upsert cannot move it.`,
      fix: 'Leave the team out.',
    });
  const after = await resolvePatch(ctx, issue.teamId, issue, patch, '');
  return { ...updated(ctx, issueModel, issue, after, ifMatch), location: issueLocation(ctx, issue.id) };
}
