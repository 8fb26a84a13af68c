// Wakes runs that wait for their next attempt after their plugin got a new version.
import { neverMs } from '../../../kernel/events/work/queue.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';

/** Limit of woken runs per install; further runs wait for their planned time. */
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
