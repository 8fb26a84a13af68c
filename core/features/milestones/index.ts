// Milestones. Deleting a milestone removes it from its issues in the same batch.
import { notDeleted, pageOfModel } from '../../kernel/changes/list.ts';
import { getEntity, removed } from '../../kernel/changes/operations.ts';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import type { Context } from '../../kernel/context.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { lastPositionIn } from '../../kernel/resource/sort.ts';
import { issueModel } from '../issues/index.ts';
import { projectModel, requireProject } from '../projects/index.ts';
import { milestone, positionMax } from './contract.ts';
import { milestoneModel } from './model.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { dayAfter, sampleId, sampleProject, timeAfter } from '../../kernel/samples.ts';
import { milestoneCompletion } from './reactions.ts';

/** Maximum number of issues changed in one batch, so that other commits do not wait long. */
const leavingMax = 500;

const lastPosition = lastPositionIn({
  kind: milestone.name,
  table: milestoneModel.table,
  owner: 'projectId',
  max: positionMax,
});

const resource = defineResource(milestone, milestoneModel, {
  async where(ctx, _query, projectId) {
    const { id } = await getEntity(ctx, projectModel, projectId ?? '');
    return [{ sql: 'project_id = :projectId', params: { projectId: id } }];
  },
  async sets(ctx, { position }, parentId) {
    const { id: projectId } = await getEntity(ctx, projectModel, parentId ?? '');
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
  const current = await getEntity(ctx, milestoneModel, id);
  requireProject(ctx, current);
  const set = removed(ctx, milestoneModel, current, ifMatch);
  const { data, pageInfo } = await pageOfModel(
    { ...ctx, visibleTeams: null },
    issueModel,
    { limit: leavingMax },
    { where: [notDeleted, { sql: 'milestone_id = :milestoneId', params: { milestoneId: id } }] },
  );
  if (pageInfo.hasNextPage)
    throw new ApiError(
      'conflict',
      `The milestone has more than ${data.length} issues. Remove some of them first, with POST /api/v1/issues/bulk-update.`,
    );
  const left = data.flatMap((issue) => issueModel.update(issue, { milestoneId: null }, ctx.nowMs()) ?? []);
  return { ...set, changes: [...left, ...set.changes] };
}

export const milestones = defineFeature({
  name: 'milestones',
  resources: [resource],
  reactions: [milestoneCompletion],
  samples: ({ nowMs }) => ({
    objects: {
      milestone: {
        id: sampleId('mil'),
        name: 'Beta',
        description: 'Version for the first customers.',
        project: sampleProject,
        targetDate: dayAfter(nowMs, 20),
        position: 1,
        completedAt: null,
      } satisfies Partial<EntityResponse<typeof milestone>>,
    },
    moments: {
      'milestone.updated': { previous: { targetDate: dayAfter(nowMs, 13) } },
      'milestone.completed': { now: { completedAt: timeAfter(nowMs, 0) }, previous: { completedAt: null } },
    },
  }),
});
