// Pipelines. A pipeline with releases cannot be deleted.
import { getEntity, removed } from '../../kernel/changes/operations.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { pipeline } from './contract.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { sampleId } from '../../kernel/samples.ts';

const hasRelease = tenantStatement<{ id: string }>(
  'pipelines.release_of',
  'SELECT id FROM releases INDEXED BY releases_pipeline WHERE workspace_id = :ws AND pipeline_id = :id AND deleted_at IS NULL LIMIT 1',
);
/** Fails the batch of a deletion if a release was created in the meantime. */
const withoutReleases = tenantStatement(
  'pipelines.without_releases',
  `UPDATE pipelines SET version = version WHERE workspace_id = :ws AND id = :id AND NOT EXISTS (
     SELECT 1 FROM releases AS r INDEXED BY releases_pipeline
     WHERE r.workspace_id = :ws AND r.pipeline_id = :id AND r.deleted_at IS NULL)`,
);

const pipelineModel = modelOf(pipeline, {
  related: (scope, _before, { id, deletedAt }) =>
    deletedAt === null ? {} : { last: [tenantOp(scope, withoutReleases, { id }, { expectRows: 1 })] },
});

const resource = defineResource(pipeline, pipelineModel, {
  operations: {
    async delete(ctx, id, ifMatch) {
      const current = await getEntity(ctx, pipelineModel, id);
      if (await ctx.store.readOne(ctx.scope, hasRelease, { id }))
        throw new ApiError(
          'conflict',
          'The pipeline has releases. Delete them first; a published release cannot be deleted.',
        );
      return removed(ctx, pipelineModel, current, ifMatch);
    },
  },
});

export const pipelines = defineFeature({
  name: 'pipelines',
  resources: [resource],
  samples: () => ({
    objects: {
      pipeline: {
        id: sampleId('pip'),
        name: 'Editor',
        type: 'scheduled',
        stages: ['planned', 'in_progress', 'staging', 'released'],
        team: 'ENG',
        repository: 'acme/editor',
      } satisfies Partial<EntityResponse<typeof pipeline>>,
    },
    moments: {
      'pipeline.updated': { previous: { stages: ['planned', 'staging', 'released'] } },
    },
  }),
});
