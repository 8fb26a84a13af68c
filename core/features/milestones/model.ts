// Storage and events of milestones. Two conditions are checked again in the batch, because issues may have
// changed in the meantime: a completed milestone has no open issue, and a deleted one has no issue.
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { milestone } from './contract.ts';

type Milestone = EntityOf<typeof milestone>;

const nothingOpen = tenantStatement(
  'milestones.nothing_open',
  `UPDATE milestones SET version = version WHERE workspace_id = :ws AND id = :id AND NOT EXISTS (
     SELECT 1 FROM issues AS i INDEXED BY issues_milestone JOIN states AS s ON s.workspace_id = :ws AND s.id = i.state_id
     WHERE i.workspace_id = :ws AND i.milestone_id = :id AND i.milestone_id IS NOT NULL AND i.deleted_at IS NULL
       AND s.type NOT IN ('completed', 'canceled', 'duplicate'))`,
);
const withoutIssues = tenantStatement(
  'milestones.without_issues',
  `UPDATE milestones SET version = version WHERE workspace_id = :ws AND id = :id AND NOT EXISTS (
     SELECT 1 FROM issues AS i INDEXED BY issues_milestone
     WHERE i.workspace_id = :ws AND i.milestone_id = :id AND i.milestone_id IS NOT NULL AND i.deleted_at IS NULL)`,
);

const isCompletion = (before: Milestone | null, after: Milestone): boolean =>
  before !== null && before.completedAt === null && after.completedAt !== null;

export const milestoneModel = modelOf(milestone, {
  events(before, after) {
    if (!before) return ['milestone.created'];
    if (before.deletedAt !== after.deletedAt) return ['milestone.deleted'];
    return [isCompletion(before, after) ? 'milestone.completed' : 'milestone.updated'];
  },
  related(scope, before, after) {
    const { id } = after;
    if (after.deletedAt !== null)
      return { last: [tenantOp(scope, withoutIssues, { id }, { expectRows: 1 })] };
    return isCompletion(before, after)
      ? { last: [tenantOp(scope, nothingOpen, { id }, { expectRows: 1 })] }
      : {};
  },
});
