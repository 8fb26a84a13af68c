// Records purged issues, so that data stored elsewhere about them can be found and removed.
// docs/spec/durability.md › Retention.
import { timerOp } from '../../kernel/event-reactions/due-timers.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../platform/store/store.ts';

/** Name of the timer; each workspace has one, identified by the id of the workspace. */
export const purgedTimerName = 'purged';

const add = tenantStatement(
  'purged_issues.add',
  'INSERT INTO purged_issues (workspace_id, id, created_at) VALUES (:ws, :id, :createdAt) ON CONFLICT (workspace_id, id) DO NOTHING',
);

/** Returns the ops for the batch that removes the issue. */
export function purgedOps(
  scope: Scope,
  { id, createdAt }: { readonly id: string; readonly createdAt: number },
): Op[] {
  return [
    tenantOp(scope, add, { id, createdAt }),
    timerOp(scope, purgedTimerName, scope.workspaceId, createdAt),
  ];
}
