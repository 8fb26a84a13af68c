import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { dayAfter, sampleId, timeAfter, type Samples } from '../../kernel/samples.ts';
import { release } from './contract.ts';
import { getEntity, removed } from '../../kernel/changes/operations.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { releaseTable } from './tables.ts';
import { releaseModel, requireUnpublished } from './model.ts';
import { releaseRoutes } from './routes.ts';
import { defineFeature } from '../../kernel/feature.ts';

const withTag = releaseTable.select('with_tag', ['id'], ['pipeline_id', 'tag'], 'AND deleted_at IS NULL');

const resource = defineResource(release, releaseModel, {
  sets: ({ directory }, { pipelineId }) => ({
    stage: directory.pipelines.get(pipelineId)?.stages[0] ?? '',
  }),
  async check(ctx, after, before) {
    if (before && (before.name !== after.name || before.targetDate !== after.targetDate))
      requireUnpublished(before, 'only its notes can be changed. Leave the other fields out');
    if (before?.tag === after.tag) return;
    if (before) requireUnpublished(before, 'only its notes can be changed. Leave the other fields out');
    const { pipelineId, tag } = after;
    if (await withTag.one(ctx.store, ctx.scope, { pipeline_id: pipelineId, tag }))
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

const releaseSamples: Samples = ({ nowMs }) => {
  const published = { status: 'published', stage: 'released', publishedAt: timeAfter(nowMs, 0) };
  const reason = 'Saving loses comments.';
  const back = { status: 'rolled_back', rolledBackAt: timeAfter(nowMs, 0), rollbackReason: reason };
  return {
    objects: {
      release: {
        id: sampleId('rel'),
        name: 'Spring',
        tag: '2.5.0',
        pipeline: { id: sampleId('pip'), name: 'Editor' },
        stage: 'staging',
        status: 'in_progress',
        targetDate: dayAfter(nowMs, 40),
        notes: '## Fixes\n\n- The editor says so when the disk is full.\n',
        issueIds: [sampleId('iss')],
        publishedAt: null,
        rolledBackAt: null,
        rollbackReason: null,
      } satisfies Partial<EntityResponse<typeof release>>,
    },
    moments: {
      'release.updated': { previous: { stage: 'in_progress' } },
      'release.published': {
        now: published,
        previous: { status: 'in_progress', stage: 'staging', publishedAt: null },
      },
      'release.rolled_back': {
        now: { ...published, publishedAt: timeAfter(nowMs, -2), ...back },
        previous: { status: 'published', rolledBackAt: null, rollbackReason: null },
      },
    },
  };
};

export const releases = defineFeature({ name: 'releases', resources: [resource], samples: releaseSamples });

export { releaseModel } from './model.ts';
