// Marks texts for indexing in the batch of their change, as one small row regardless of the length of the
// text. The index is updated in the background, many texts per commit, or earlier by the next search of the
// workspace.
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../platform/store/store.ts';

const note = tenantStatement(
  'search_pending.note',
  `INSERT INTO search_pending (workspace_id, id, revision) VALUES (:ws, :id, 1)
   ON CONFLICT DO UPDATE SET revision = revision + 1`,
);

const noteComments = tenantStatement(
  'search_pending.note_comments',
  `INSERT INTO search_pending (workspace_id, id, revision)
   SELECT :ws, id, 1 FROM comments WHERE workspace_id = :ws AND issue_id = :issueId
   ON CONFLICT DO UPDATE SET revision = revision + 1`,
);

interface IssueText {
  readonly id: string;
  readonly deletedAt: number | null;
  readonly title: string;
  readonly description: string;
  readonly teamId: string;
}

/** Deleting, restoring or moving an issue also marks its comments. */
export function issueToIndex(scope: Scope, before: IssueText | null, after: IssueText): Op[] {
  const isElsewhere =
    before !== null && (before.deletedAt !== after.deletedAt || before.teamId !== after.teamId);
  if (!isElsewhere && before?.title === after.title && before.description === after.description) return [];
  const own = textToIndex(scope, after.id);
  return isElsewhere ? [own, tenantOp(scope, noteComments, { issueId: after.id })] : [own];
}

/** @param id id of the issue or comment that has the text */
export const textToIndex = (scope: Scope, id: string): Op => tenantOp(scope, note, { id });
