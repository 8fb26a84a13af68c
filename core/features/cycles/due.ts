// Due time of the next state change of a team's cycles. A team has one timer for all of its cycles, so
// changes happen in order. The due time is computed from the table in the batch that changes it, so it is
// correct under concurrent changes.
import { neverMs } from '../../kernel/events/work/queue.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../platform/store/store.ts';
import { cyclesTimerName } from './contract.ts';

/**
 * Uses the earliest time of the open cycles; without open cycles, a team with a rhythm is due at `:at`.
 * Raising the epoch ends existing leases, as for every timer.
 */
const setDue = tenantStatement(
  'cycles.set_due',
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   VALUES (:ws, :row, :kind, :kind, coalesce(
     (SELECT min(CASE status WHEN 'upcoming' THEN starts_at WHEN 'active' THEN ends_at ELSE completed_at END)
      FROM cycles WHERE workspace_id = :ws AND team_id = :teamId AND settled_at IS NULL AND deleted_at IS NULL),
     (SELECT :at FROM teams WHERE workspace_id = :ws AND id = :teamId AND cycles_json IS NOT NULL),
     :never), 0, NULL, 1)
   ON CONFLICT (workspace_id, id)
   DO UPDATE SET due_at = excluded.due_at, lease_until = 0, lease_owner = NULL, epoch = epoch + 1`,
);

/**
 * Sets the timer of a team to its next due time.
 * @param atMs due time for a team that has a rhythm and no open cycle
 */
export function cyclesDueOp(scope: Scope, teamId: string, atMs: number): Op {
  const params = {
    row: `${cyclesTimerName}/${teamId}`,
    kind: cyclesTimerName,
    teamId,
    at: atMs,
    never: neverMs,
  };
  return tenantOp(scope, setDue, params);
}
