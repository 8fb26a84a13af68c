// When something is to happen to the cycles of a team: one alarm for all of them, so that what happens happens in order. It is set by
// what the table says in the batch that changes it, whoever else changes the same team's cycles.
import { neverMs } from '../../events/work.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../store/store.ts';

/** Name of the alarm, which rings for teams, and of the actor. */
export const cyclesAlarm = 'cycles';

/** By what is open, or at once where a rhythm has nothing that is. Leases of an earlier moment end with it, as with any alarm. */
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
 * Sets the alarm of a team to the next moment.
 * @param atMs when it rings where the team has a rhythm and nothing open
 */
export function cyclesDueOp(scope: Scope, teamId: string, atMs: number): Op {
  const params = { row: `${cyclesAlarm}/${teamId}`, kind: cyclesAlarm, teamId, at: atMs, never: neverMs };
  return tenantOp(scope, setDue, params);
}
