// Ends the wait of runs for their next attempt, where another version of their plugin will make it.
import { neverMs } from '../../events/work.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../store/store.ts';

/** Of one install; the rest of a larger pile waits as long as it would have. */
const wokenAtOnce = 1000;
const wakeWaiting = tenantStatement(
  'due_work.wake_runs',
  `UPDATE due_work SET due_at = :now WHERE workspace_id = :ws AND lease_owner IS NULL AND due_at > :now AND due_at < ${neverMs}
     AND id IN (SELECT id FROM runs INDEXED BY runs_open WHERE workspace_id = :ws AND install_id = :installId
       AND status IN ('queued', 'running', 'retrying') LIMIT ${wokenAtOnce})`,
);

export function wakeWaitingOp(scope: Scope, installId: string, nowMs: number): Op {
  return tenantOp(scope, wakeWaiting, { installId, now: nowMs });
}
