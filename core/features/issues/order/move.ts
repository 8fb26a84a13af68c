// Moves an issue to another team. The commit assigns a number there; the former identifier still resolves.
// The state is mapped by type and name, labels by name. Sub-issues stay in their team.
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import { getEntity, requireVersion, updated } from '../../../kernel/changes/operations.ts';
import type { Context, Directory } from '../../../kernel/context.ts';
import { foldName } from '../../../platform/lib/text/words.ts';
import { firstState, stateByName, statesOf } from '../../workflows/index.ts';
import { requireTakesIssues } from '../../teams/index.ts';
import type { IssueMoveInput } from '../bodies.ts';
import { inState } from '../query/in-state.ts';
import { issueModel, type Issue, type IssueResponse } from '../model.ts';
import { resolvePatch, teamOf } from '../references/references.ts';

/** @throws ApiError not_found, precondition_failed, validation_failed */
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
