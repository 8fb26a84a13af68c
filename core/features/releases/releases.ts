import { getEntity, removed } from '../../kernel/changes/operations.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { release } from './contract.ts';
import { releaseModel } from './model.ts';
import { requireUnpublished } from './published.ts';
import { releaseRoutes } from './routes.ts';

const withTag = tenantStatement<{ id: string }>(
  'releases.with_tag',
  'SELECT id FROM releases WHERE workspace_id = :ws AND pipeline_id = :pipelineId AND tag = :tag AND deleted_at IS NULL',
);

export const releases = defineResource(release, releaseModel, {
  sets: ({ directory }, { pipelineId }) => ({
    stage: directory.pipelines.get(pipelineId)?.stages[0] ?? '',
  }),
  async check(ctx, after, before) {
    if (before && (before.name !== after.name || before.targetDate !== after.targetDate))
      requireUnpublished(before, 'only its notes can be changed. Leave the other fields out');
    if (before?.tag === after.tag) return;
    if (before) requireUnpublished(before, 'only its notes can be changed. Leave the other fields out');
    const { pipelineId, tag } = after;
    if (await ctx.store.readOne(ctx.scope, withTag, { pipelineId, tag }))
      throw invalidField('tag', 'already_exists', {
        why: `The pipeline already has a release with the tag ${tag}.`,
        fix: 'Use another tag.',
      });
  },
  operations: {
    async delete(ctx, id, ifMatch) {
      const current = await getEntity(ctx, releaseModel, id);
      requireUnpublished(current, 'it cannot be deleted. Roll the release back instead');
      return removed(ctx, releaseModel, current, ifMatch);
    },
  },
  routes: releaseRoutes,
});
