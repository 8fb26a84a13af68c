// The list of issues that are gone for good, by which what others kept of them is found and taken out.
// docs/spec/durability.md › Retention.
import { timerOp } from '../../reactions/due-timer.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../store/store.ts';

/** One for each workspace, by the workspace's id. */
export const purgedTimerName = 'purged';

const add = tenantStatement(
  'purged_issues.add',
  'INSERT INTO purged_issues (workspace_id, id, created_at) VALUES (:ws, :id, :createdAt) ON CONFLICT (workspace_id, id) DO NOTHING',
);

/** For the batch that removes the issue. */
export function purgedOps(
  scope: Scope,
  { id, createdAt }: { readonly id: string; readonly createdAt: number },
): Op[] {
  return [
    tenantOp(scope, add, { id, createdAt }),
    timerOp(scope, purgedTimerName, scope.workspaceId, createdAt),
  ];
}
