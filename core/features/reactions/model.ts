// Storage of reactions. A removed reaction stays stored; reacting again creates a new one.
import { plain } from '../../kernel/changes/operations.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { issueOfPart, partOfIssue } from '../issues/index.ts';
import { reaction } from './contract.ts';

/** Maximum number of different emoji on one comment or issue. */
export const emojiMax = 50;

const part = partOfIssue('reactions');

export const reactionModel = modelOf(reaction, {
  stored: { ...part.kept, subjectId: plain<string>('subject_id') },
  shows: {
    issue: issueOfPart,
    commentId: ({ issueId, subjectId }) => (subjectId === issueId ? null : subjectId),
  },
  special: {
    ...part.special,
    related: (scope, before, { issueId, subjectId }) => ({
      last: before
        ? []
        : [tenantOp(scope, requireCapacity, { issueId, subjectId, max: emojiMax }, { expectRows: 1 })],
    }),
  },
});

/** Fails the batch if the comment or issue was deleted in the meantime, or has too many different emoji. */
const requireCapacity = tenantStatement(
  'reactions.have_room',
  `UPDATE issues SET updated_at = updated_at WHERE workspace_id = :ws AND id = :issueId AND deleted_at IS NULL
     AND (:subjectId = :issueId OR EXISTS
       (SELECT 1 FROM comments AS c WHERE c.workspace_id = :ws AND c.id = :subjectId AND c.deleted_at IS NULL))
     AND (SELECT count(DISTINCT r.emoji) FROM reactions AS r
          WHERE r.workspace_id = :ws AND r.subject_id = :subjectId AND r.deleted_at IS NULL) <= :max`,
);
