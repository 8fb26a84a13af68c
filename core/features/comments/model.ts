// Storage and events of comments. A change of a comment updates `updatedAt` of its issue but not the version,
// so commenting does not conflict with editing the issue.
import { json } from '../../kernel/changes/operations.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { issueOfPart, partOfIssue } from '../issues/index.ts';
import { comment } from './contract.ts';

const part = partOfIssue('comments');

export const commentModel = modelOf(comment, {
  stored: { ...part.stored, mentionIds: json<readonly string[]>('mention_ids_json') },
  shows: {
    issue: issueOfPart,
    mentions: ({ mentionIds }, { directory }) =>
      mentionIds.map((id) => ({ id, name: directory.members.get(id)?.name ?? '' })),
  },
  events(before, after) {
    if (!before) return ['comment.added'];
    if (after.deletedAt !== before.deletedAt)
      return [after.deletedAt === null ? 'comment.restored' : 'comment.deleted'];
    if (after.resolvedAt !== before.resolvedAt)
      return [after.resolvedAt === null ? 'comment.unresolved' : 'comment.resolved'];
    return ['comment.updated'];
  },
  ...part.options,
  related: (scope, _before, after) => ({
    last: [tenantOp(scope, moveIssue, { issueId: after.issueId, at: after.updatedAt }, { expectRows: 1 })],
  }),
});
/** Fails the batch if the issue was deleted in the meantime. */
const moveIssue = tenantStatement(
  'issues.move_by_comment',
  `UPDATE issues SET updated_at = max(updated_at, :at)
   WHERE workspace_id = :ws AND id = :issueId AND deleted_at IS NULL`,
);

export type Comment = NonNullable<Awaited<ReturnType<typeof commentModel.find>>>;
