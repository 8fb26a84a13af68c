// Steps of a release: stages of its pipeline, publication and rollback. If two steps are concurrent, one of
// them is planned again on the result of the other.
import type { ChangeSet } from '../../changes/change.ts';
import { getEntity, updated } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { releaseModel, type Release } from './kind.ts';
import { requireUnpublished } from './published.ts';

/** @throws ApiError not_found, conflict, validation_failed */
export async function moveRelease(
  ctx: Context,
  id: string,
  stage: string,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const current = await getEntity(ctx, releaseModel, id);
  requireUnpublished(current, 'its stage cannot change. Use another release');
  const stages = stagesOf(ctx, current);
  const at = stages.indexOf(stage);
  if (at < 0)
    throw invalidField('stage', 'not_found', {
      why: `The pipeline has no stage ${stage}.`,
      fix: `Use one of ${stages.join(', ')}.`,
    });
  return updated(
    ctx,
    releaseModel,
    current,
    { stage, status: at === 0 ? 'planned' : 'in_progress' },
    ifMatch,
  );
}

/** @throws ApiError not_found, conflict */
export async function publishRelease(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const current = await getEntity(ctx, releaseModel, id);
  requireUnpublished(current, 'it cannot be published again. Use another release');
  const stage = stagesOf(ctx, current).at(-1) ?? current.stage;
  return updated(
    ctx,
    releaseModel,
    current,
    { status: 'published', stage, publishedAt: ctx.nowMs() },
    ifMatch,
  );
}

/** @throws ApiError not_found, conflict */
export async function rollBackRelease(
  ctx: Context,
  id: string,
  reason: string,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const current = await getEntity(ctx, releaseModel, id);
  if (current.status !== 'published')
    throw new ApiError(
      'conflict',
      current.status === 'rolled_back'
        ? 'The release was already rolled back. Use another release.'
        : 'The release was not published. Only a published release can be rolled back.',
    );
  const patch = { status: 'rolled_back', rolledBackAt: ctx.nowMs(), rollbackReason: reason } as const;
  return updated(ctx, releaseModel, current, patch, ifMatch);
}

function stagesOf({ directory }: Context, { pipelineId }: Release): readonly string[] {
  return directory.pipelines.get(pipelineId)?.stages ?? [];
}
