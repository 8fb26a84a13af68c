// The way of a release: through the stages of its pipeline, out, and perhaps back. Each step is planned on the release as it was read,
// so that of two at once one is planned anew and finds what the other did.
import type { ChangeSet } from '../../changes/change.ts';
import { getEntity, updated } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { releaseKind, type Release } from './kind.ts';
import { requireUnpublished } from './published.ts';

/** @throws ApiError not_found, conflict, validation_failed */
export async function moveRelease(
  ctx: Context,
  id: string,
  stage: string,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const found = await getEntity(ctx, releaseKind, id);
  requireUnpublished(found, 'its stage stays');
  const stages = stagesOf(ctx, found);
  const at = stages.indexOf(stage);
  if (at < 0)
    throw invalidField('stage', 'not_found', {
      why: `The pipeline has no stage ${stage}.`,
      fix: `Use one of ${stages.join(', ')}.`,
    });
  return updated(ctx, releaseKind, found, { stage, status: at === 0 ? 'planned' : 'in_progress' }, ifMatch);
}

/** @throws ApiError not_found, conflict */
export async function publishRelease(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const found = await getEntity(ctx, releaseKind, id);
  requireUnpublished(found, 'it cannot be published again');
  const stage = stagesOf(ctx, found).at(-1) ?? found.stage;
  return updated(ctx, releaseKind, found, { status: 'published', stage, publishedAt: ctx.nowMs() }, ifMatch);
}

/** @throws ApiError not_found, conflict */
export async function rollBackRelease(
  ctx: Context,
  id: string,
  reason: string,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const found = await getEntity(ctx, releaseKind, id);
  if (found.status !== 'published')
    throw new ApiError(
      'conflict',
      found.status === 'rolled_back'
        ? 'The release was rolled back already.'
        : 'The release was not published, so there is nothing to roll back.',
    );
  const patch = { status: 'rolled_back', rolledBackAt: ctx.nowMs(), rollbackReason: reason } as const;
  return updated(ctx, releaseKind, found, patch, ifMatch);
}

function stagesOf({ directory }: Context, { pipelineId }: Release): readonly string[] {
  return directory.pipelines.get(pipelineId)?.stages ?? [];
}
