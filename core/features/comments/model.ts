// Storage and events of comments. A change of a comment updates `updatedAt` of its issue but not the version,
// so commenting does not conflict with editing the issue.
import { json } from '../../kernel/changes/operations.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { activityOp, issueOfPart, partOfIssue } from '../issues/index.ts';
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
  related: (scope, _before, after) => ({ last: [activityOp(scope, after.issueId, after.updatedAt)] }),
});

export type Comment = NonNullable<Awaited<ReturnType<typeof commentModel.find>>>;
