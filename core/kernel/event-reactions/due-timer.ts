// Timers that make changes at a due time, for example start a cycle. A timer is a row of the work queue,
// written in the batch that sets it and deleted in the batch of its changes, so it fires exactly once across
// crashes and restarts. Due times are calendar times and are not adjusted when the clock is set. See
// docs/decisions/0039.
import type { Change, PlannedWrites } from '../changes/change.ts';
import type { Context } from '../context.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../platform/store/store.ts';

export interface DueTimer {
  /** Type of the rows in the work queue, and actor of the events, such as `cycles`. */
  readonly name: string;
  /**
   * Returns true if a change may have set the timer, so that the queue looks up the next due time after the
   * commit.
   */
  isSetBy(change: Change): boolean;
  /**
   * Returns the changes of a due timer, computed from the current state: a timer may fire late, and for
   * objects that were changed or deleted in the meantime. The changes may set the timer again. Called again
   * after a conflict with concurrent changes.
   */
  fire(ctx: Context, id: string): Promise<PlannedWrites>;
}

/** Setting a timer ends its lease, so the commit of a worker that still has the lease fails. */
const set = tenantStatement(
  'alarms.set',
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   VALUES (:ws, :id, :kind, :kind, :dueAt, 0, NULL, 1)
   ON CONFLICT (workspace_id, id) DO UPDATE SET due_at = :dueAt, lease_until = 0, lease_owner = NULL, epoch = epoch + 1`,
);
const unset = tenantStatement('alarms.unset', 'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id');

/**
 * Sets or replaces the timer of an object; used in the `related` ops of its model.
 * @param dueAtMs time at which the timer fires; null removes the timer
 */
export function timerOp(scope: Scope, name: string, id: string, dueAtMs: number | null): Op {
  const row = `${name}/${id}`;
  return dueAtMs === null
    ? tenantOp(scope, unset, { id: row })
    : tenantOp(scope, set, { id: row, kind: name, dueAt: dueAtMs });
}
