// Timers that turn a due time into changes: a cycle starts, an issue becomes overdue. A timer is a work queue row. It
// is written in the batch that sets it and deleted in the batch of its changes, so it fires exactly once across
// crashes and restarts. Due times are calendar times and do not move with the clock. See docs/decisions/0039.
import type { Change, ChangeSet } from '../changes/change.ts';
import type { Context } from '../context.ts';
import { tenantStatement } from '../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../store/store.ts';

export interface DueTimer {
  /** Type of its rows and actor of its events, such as `cycle`. */
  readonly name: string;
  /** Returns true if a change may have set the timer; after the commit the next due time is looked up. */
  isSetBy(change: Change): boolean;
  /**
   * Returns the changes of a due timer. It may fire late, and for objects that were changed or deleted since, so it
   * works on the current state. Its changes may set the timer again. It is called again after a conflict with
   * concurrent changes.
   */
  fire(ctx: Context, id: string): Promise<Pick<ChangeSet, 'changes' | 'ops'>>;
}

/** Setting a timer ends its lease: a worker that still holds it fails when it commits. */
const set = tenantStatement(
  'alarms.set',
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   VALUES (:ws, :id, :kind, :kind, :dueAt, 0, NULL, 1)
   ON CONFLICT (workspace_id, id) DO UPDATE SET due_at = :dueAt, lease_until = 0, lease_owner = NULL, epoch = epoch + 1`,
);
const unset = tenantStatement('alarms.unset', 'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id');

/**
 * Sets or replaces the timer of an object; for the `related` ops of its model.
 * @param dueAtMs time at which it fires; null removes the timer
 */
export function timerOp(scope: Scope, name: string, id: string, dueAtMs: number | null): Op {
  const row = `${name}/${id}`;
  return dueAtMs === null
    ? tenantOp(scope, unset, { id: row })
    : tenantOp(scope, set, { id: row, kind: name, dueAt: dueAtMs });
}
