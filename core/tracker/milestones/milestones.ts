// Milestones. Deleting one removes it from its issues in the same batch.
import { notDeleted, pageOfKind } from '../../changes/list.ts';
import { getEntity, removed } from '../../changes/operations.ts';
import type { ChangeSet } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { defineResource } from '../../resource/define.ts';
import { lastPositionIn } from '../../resource/last-position.ts';
import { issueKind } from '../issues/kind.ts';
import { projectKind, requireProject } from '../projects/kind.ts';
import { milestone, positionMax } from './contract.ts';
import { milestoneKind } from './kind.ts';

/** Maximum number of issues changed in one batch, so that other commits do not wait long. */
const leavingMax = 500;

const lastPosition = lastPositionIn({
  kind: milestone.name,
  table: milestoneKind.table,
  owner: 'projectId',
  max: positionMax,
});

export const milestones = defineResource(milestone, milestoneKind, {
  async where(ctx, _query, projectId) {
    const { id } = await getEntity(ctx, projectKind, projectId ?? '');
    return [{ sql: 'project_id = :projectId', params: { projectId: id } }];
  },
  async sets(ctx, { position }, parentId) {
    const { id: projectId } = await getEntity(ctx, projectKind, parentId ?? '');
    return { projectId, position: position ?? (await lastPosition(ctx, projectId)) };
  },
  placedIn: (_ctx, { position }, projectId) => (position === undefined ? projectId : null),
  admits: async (ctx, entity) => requireProject(ctx, entity),
  operations: { delete: deleteMilestone },
});

async function deleteMilestone(
  ctx: Context,
  id: string,
  ifMatch: number | null,
): Promise<ChangeSet<undefined>> {
  const found = await getEntity(ctx, milestoneKind, id);
  requireProject(ctx, found);
  const set = removed(ctx, milestoneKind, found, ifMatch);
  const { data, pageInfo } = await pageOfKind(
    { ...ctx, visibleTeams: null },
    issueKind,
    { limit: leavingMax },
    { where: [notDeleted, { sql: 'milestone_id = :milestoneId', params: { milestoneId: id } }] },
  );
  if (pageInfo.hasNextPage)
    throw new ApiError(
      'conflict',
      `The milestone has more than ${data.length} issues. Remove some of them first, with POST /api/v1/issues/bulk-update.`,
    );
  const left = data.flatMap((issue) => issueKind.update(issue, { milestoneId: null }, ctx.nowMs()) ?? []);
  return { ...set, changes: [...left, ...set.changes] };
}
