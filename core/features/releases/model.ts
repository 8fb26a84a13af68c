// Storage and events of releases. The row of a release lists its issues; a separate table indexes them.
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { release } from './contract.ts';
import { releaseIssueTable } from './tables.ts';

export type Release = EntityOf<typeof release>;

/** Affects no row if the issue was deleted in the meantime. */
const addIssue = tenantStatement(
  'release_issues.add',
  `INSERT INTO release_issues (workspace_id, release_id, issue_id, created_at)
   SELECT :ws, :id, i.id, i.created_at FROM issues AS i
   WHERE i.workspace_id = :ws AND i.id = :issueId AND i.deleted_at IS NULL`,
);
const dropIssue = releaseIssueTable.remove('drop', ['release_id', 'issue_id']);

/** Fails the creation of a release if its pipeline was deleted in the meantime. */
const pipelineThere = tenantStatement(
  'pipelines.there',
  'UPDATE pipelines SET version = version WHERE workspace_id = :ws AND id = :pipelineId AND deleted_at IS NULL',
);

export const releaseModel = modelOf(release, {
  events(before, after) {
    if (!before) return ['release.created'];
    if (before.deletedAt !== after.deletedAt) return ['release.deleted'];
    if (before.status === after.status) return ['release.updated'];
    if (after.status === 'published') return ['release.published'];
    return [after.status === 'rolled_back' ? 'release.rolled_back' : 'release.updated'];
  },
  related(scope, before, { id, pipelineId, issueIds }) {
    const had = new Set(before?.issueIds);
    const has = new Set(issueIds);
    return {
      first: before ? [] : [tenantOp(scope, pipelineThere, { pipelineId }, { expectRows: 1 })],
      last: [
        ...issueIds
          .filter((issueId) => !had.has(issueId))
          .map((issueId) => tenantOp(scope, addIssue, { id, issueId }, { expectRows: 1 })),
        // Without `expectRows`, because the row of a purged issue is already deleted.
        ...[...had]
          .filter((issueId) => !has.has(issueId))
          .map((issueId) => dropIssue(scope, { release_id: id, issue_id: issueId })),
      ],
    };
  },
});

/**
 * @param so consequence, for the end of the error message
 * @throws ApiError conflict
 */
export function requireUnpublished(release: Release, so: string): void {
  if (release.publishedAt !== null) throw new ApiError('conflict', `The release was published, so ${so}.`);
}
