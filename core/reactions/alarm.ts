// An alarm turns a moment into changes: a cycle begins, an issue is due. It is a row of the work queue that is written in the batch of
// what it follows from, and goes in the batch of what it causes, so that it rings exactly once, over crashes and restarts. A moment
// is a time of the calendar: where the clock is set, the alarm is not. docs/decisions/0039.
import type { Change, ChangeSet } from '../changes/change.ts';
import type { Context } from '../context.ts';
import { tenantStatement } from '../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../store/store.ts';

export interface Alarm {
  /** Kind of its rows, and the actor of its events: `cycle`. */
  readonly name: string;
  /** Whether a change may have set it: after its commit the next moment is looked for. */
  isSetBy(change: Change): boolean;
  /**
   * What is to happen. It may ring late, and for what has changed or gone since: it looks at what is there now. Its changes may set it
   * again. It is asked again where others changed the same meanwhile.
   */
  ring(ctx: Context, id: string): Promise<Pick<ChangeSet, 'changes' | 'ops'>>;
}

/** Leases of an earlier moment end with it: who holds one finds, when it commits, that it is not its own. */
const set = tenantStatement(
  'alarms.set',
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   VALUES (:ws, :id, :kind, :kind, :dueAt, 0, NULL, 1)
   ON CONFLICT (workspace_id, id) DO UPDATE SET due_at = :dueAt, lease_until = 0, lease_owner = NULL, epoch = epoch + 1`,
);
const unset = tenantStatement('alarms.unset', 'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id');

/**
 * Sets the alarm of an object, in place of the one it had: for the `related` ops of its kind.
 * @param dueAtMs when it rings; null: never
 */
export function alarmOp(scope: Scope, name: string, id: string, dueAtMs: number | null): Op {
  const row = `${name}/${id}`;
  return dueAtMs === null
    ? tenantOp(scope, unset, { id: row })
    : tenantOp(scope, set, { id: row, kind: name, dueAt: dueAtMs });
}
