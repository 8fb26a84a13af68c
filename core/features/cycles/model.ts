// Storage and events of cycles. Invariants are enforced in the batch that writes, so they hold with
// concurrent writers: cycles of a team do not overlap, and a deleted cycle has no issues.
import { neverMs } from '../../kernel/events/work/queue.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../platform/store/store.ts';
import { cyclesTimerName, cycle } from './contract.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';

export type Cycle = EntityOf<typeof cycle>;

/** Fails a batch that would leave overlapping cycles. */
const apart = tenantStatement(
  'cycles.apart',
  `UPDATE cycles SET version = version WHERE workspace_id = :ws AND id = :id AND NOT EXISTS (
     SELECT 1 FROM cycles AS o INDEXED BY cycles_team_start
     WHERE o.workspace_id = :ws AND o.team_id = :teamId AND o.deleted_at IS NULL AND o.id <> :id
       AND o.starts_at < :endsAt AND o.ends_at > :startsAt)`,
);
/** Fails a deletion if an issue was added to the cycle in the meantime. */
const empty = tenantStatement(
  'cycles.empty',
  `UPDATE cycles SET version = version WHERE workspace_id = :ws AND id = :id AND NOT EXISTS (
     SELECT 1 FROM issues AS i INDEXED BY issues_cycle WHERE i.workspace_id = :ws AND i.cycle_id = :id AND i.deleted_at IS NULL)`,
);

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

export const cycleModel = modelOf(cycle, {
  events(before, after) {
    if (!before) return ['cycle.created'];
    if (before.deletedAt !== after.deletedAt) return ['cycle.deleted'];
    if (before.status === after.status) return ['cycle.updated'];
    return [after.status === 'active' ? 'cycle.started' : 'cycle.completed'];
  },
  subjectId: ({ id }) => id,
  related(scope, _before, { id, teamId, startsAt, endsAt, updatedAt, deletedAt }) {
    const sound =
      deletedAt === null
        ? tenantOp(scope, apart, { id, teamId, startsAt, endsAt }, { expectRows: 1 })
        : tenantOp(scope, empty, { id }, { expectRows: 1 });
    return { last: [sound, cyclesDueOp(scope, teamId, updatedAt)] };
  },
});

/**
 * Sets the timer of a team to its next due time. A team has one timer for all of its cycles, so changes happen in
 * order. The time is computed from the table in the batch that changes it, so it is correct under concurrent changes.
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
