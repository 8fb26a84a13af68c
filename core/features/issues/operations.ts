// Operations on issues, except creation. Writes return a change set, which the caller commits.
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { getEntity, removed, requireVersion, updated } from '../../kernel/changes/operations.ts';
import type { Context, Directory } from '../../kernel/context.ts';
import { notFound, ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import {
  milestoneLeft,
  cycleAfterRestore,
  resolvePatch,
  teamOf,
  idOfExternal,
  type ExternalReference,
} from './references.ts';
import { requireOpenOps } from './rows.ts';
import { findState, firstState, isFinishedState, stateByName, statesOf } from '../workflows/index.ts';
import { readShape, shapeIssues, type ShapeQuery } from './query/shape.ts';
import { type IssuePatch, type IssueMoveInput, externalTextMax, type IssueUpsertInput } from './bodies.ts';
import { inState, issueModel, type Issue, type IssueResponse } from './model.ts';
import { foldName } from '../../platform/lib/text/words.ts';
import { requireTakesIssues } from '../teams/index.ts';
import { issueLocation, planIssue } from './creation.ts';
import type { PageParameters } from '../../kernel/changes/list.ts';
import { listEventsOf } from '../../kernel/events/feed/feed.ts';
import { callingMember, isAdmin } from '../people/index.ts';
import { requirePerson } from '../../kernel/rights/rights.ts';
import { issueTable } from './tables.ts';

export async function getIssue(ctx: Context, id: string, query: ShapeQuery) {
  const shape = readShape(ctx, query);
  const issue = await getEntity(ctx, issueModel, id);
  const show = () => issueModel.toResponse(issue, ctx);
  const response = ctx.entities.shown(issueModel.source, ctx.scope, issue, ctx.directory, show);
  return shape === null ? response : (await shapeIssues(ctx, [response], shape))[0]!;
}

export async function updateIssue(
  ctx: Context,
  id: string,
  input: IssuePatch,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const issue = await getEntity(ctx, issueModel, id);
  requireVersion(issue, ifMatch);
  return updated(ctx, issueModel, issue, await resolvePatch(ctx, issue.teamId, issue, input, ''), ifMatch);
}

export async function deleteIssue(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  return removed(ctx, issueModel, await getEntity(ctx, issueModel, id), ifMatch);
}

export async function restoreIssue(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const issue = await issueModel.find(ctx, id);
  if (!issue) throw notFound();
  if (issue.deletedAt === null) return updated(ctx, issueModel, issue, {}, ifMatch);
  // The state may have been deleted in the meantime.
  const { id: stateId } =
    findState(ctx.directory, issue.teamId, issue.stateId) ?? firstState(ctx.directory, issue.teamId);
  // Labels may have been deleted, too.
  const labelIds = issue.labelIds.filter((labelId) => ctx.directory.labels.has(labelId));
  const state = stateId === issue.stateId ? {} : inState(ctx, issue, stateId);
  const milestoneId = milestoneLeft(ctx.directory, issue.milestoneId);
  const isFinished = isFinishedState(ctx.directory.states.get(stateId)?.type);
  const cycleId = cycleAfterRestore(ctx.directory, { cycleId: issue.cycleId, isFinished });
  const patch = { deletedAt: null, ...state, labelIds, milestoneId, cycleId };
  const set = updated(ctx, issueModel, issue, patch, ifMatch);
  const ops = requireOpenOps(ctx, issue.teamId, cycleId);
  return ops.length === 0 ? set : { ...set, ops };
}

/**
 * Moves an issue to another team. The commit assigns a number there; the former identifier still resolves. The
 * state is mapped by type and name, labels by name. Sub-issues stay in their team.
 * @throws ApiError not_found, precondition_failed, validation_failed
 */
export async function moveIssue(
  ctx: Context,
  id: string,
  { stateId, ...teamInput }: IssueMoveInput,
  ifMatch: number | null,
): Promise<ChangeSet<IssueResponse>> {
  const issue = await getEntity(ctx, issueModel, id);
  requireVersion(issue, ifMatch);
  const team = teamOf(ctx, teamInput, '');
  if (team.id === issue.teamId) {
    const patch = stateId === undefined ? {} : await resolvePatch(ctx, team.id, issue, { stateId }, '');
    return updated(ctx, issueModel, issue, patch, ifMatch);
  }
  requireTakesIssues(team, 'team');
  const state =
    stateId === undefined
      ? stateLike(ctx.directory, team.id, issue.stateId)
      : stateByName(ctx, team.id, stateId, 'stateId');
  const isTriage = ctx.directory.states.get(state)?.type === 'triage';
  return updated(
    ctx,
    issueModel,
    issue,
    {
      teamId: team.id,
      number: null,
      ...inState(ctx, issue, state),
      ...(isTriage ? { snoozedUntil: issue.snoozedUntil } : {}),
      labelIds: labelsLike(ctx.directory, team.id, issue),
      // Cycles belong to one team.
      cycleId: null,
    },
    ifMatch,
  );
}

/** Returns a state of the same type, preferably of the same name; else the initial state of the team. */
function stateLike(directory: Directory, teamId: string, stateId: string): string {
  const old = directory.states.get(stateId);
  const alike = statesOf(directory, teamId).filter(({ type }) => type === old?.type);
  const same = alike.find(({ name }) => foldName(name) === foldName(old?.name ?? ''));
  return (same ?? alike[0] ?? firstState(directory, teamId)).id;
}

/**
 * Labels of the workspace stay. Labels of the team are replaced by labels of the same name in the other team
 * or the workspace, or removed.
 */
function labelsLike({ labels }: Directory, teamId: string, { labelIds }: Issue): string[] {
  const byName = (name: string): string | undefined => {
    const alike = [...labels.values()].filter(
      (label) =>
        (label.teamId === null || label.teamId === teamId) && foldName(label.name) === foldName(name),
    );
    return (alike.find((label) => label.teamId !== null) ?? alike[0])?.id;
  };
  const after = labelIds.flatMap((id) => {
    const label = labels.get(id);
    if (!label) return [];
    return label.teamId === null ? id : (byName(label.name) ?? []);
  });
  return [...new Set(after)].sort();
}

export async function getExternal(ctx: Context, reference: ExternalReference): Promise<IssueResponse> {
  const id = await idOfExternal(ctx, reference);
  const issue = id === undefined ? undefined : await issueModel.find(ctx, id);
  if (!issue || issue.deletedAt !== null) throw notFound();
  return issueModel.toResponse(issue, ctx);
}

/**
 * Creates the issue, or updates the fields in the body. An external id stays with its issue while the issue is
 * deleted, until it is purged.
 * @throws ApiError
 */
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
    body: issueModel.toResponse(created.after, ctx),
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

/** Lists the oldest events first, also for a deleted issue. */
export async function issueHistory(ctx: Context, id: string, page: PageParameters) {
  const issue = await issueModel.find(ctx, id);
  if (!issue) throw notFound();
  return listEventsOf(ctx, issue.id, page);
}

const childOf = issueTable.select('child_of', ['id'], ['parent_id'], 'AND parent_id IS NOT NULL LIMIT 1');

/**
 * Removes a deleted issue for good, with its comments. Its events stay in the log, for the history, the audit log
 * and consumers.
 * @throws ApiError forbidden, not_found, conflict, precondition_failed
 */
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
  const row = await childOf.one(ctx.store, ctx.scope, { parent_id: id });
  if (!row) return;
  const child = await issueModel.find(ctx, row.id);
  // The error must not describe a sub-issue that the caller cannot see.
  if (!child)
    throw new ApiError(
      'conflict',
      'The issue has a sub-issue that you cannot see. That sub-issue must be purged or get another parent first.',
    );
  const { identifier } = issueModel.toResponse(child, ctx);
  throw new ApiError(
    'conflict',
    child.deletedAt === null
      ? `${identifier} has this issue as its parent. Give ${identifier} another parent, or delete and purge it first.`
      : `The deleted issue ${identifier} has this issue as its parent. Purge ${identifier} first, or restore it and give it another parent.`,
  );
}
