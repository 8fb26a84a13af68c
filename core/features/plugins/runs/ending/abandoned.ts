// Finds and revives runs that were given up because their plugin was disabled when they were due.
import type { Leases, WorkQueue } from '../../../../kernel/events/work/queue.ts';
import { tenantStatement } from '../../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../../platform/store/store.ts';
import { keyOf, queueRunOp, runColumns, type RunRow } from '../rows.ts';

/** Error code of a given-up run. */
export const abandonedCode = 'plugin_inactive';

const abandonedFilter = `workspace_id = :ws AND install_id = :installId AND status = 'dead' AND handler_kind = 'event'
  AND json_extract(error_json, '$.code') = '${abandonedCode}'`;

/** One page of given-up runs, earliest first. */
export const abandonedRuns = tenantStatement<RunRow>(
  'runs.given_up',
  `SELECT ${runColumns} FROM runs WHERE ${abandonedFilter} ORDER BY sequence LIMIT 200`,
);
const count = tenantStatement<{ count: number }>(
  'runs.count_given_up',
  `SELECT count(*) AS count FROM runs INDEXED BY runs_dead WHERE ${abandonedFilter}`,
);
const revive = tenantStatement(
  'runs.revive',
  `UPDATE runs SET status = 'queued', mode = :mode, finished_at = NULL, error_json = NULL
   WHERE workspace_id = :ws AND id = :id AND status = 'dead'`,
);

export async function countAbandoned(store: Store, scope: Scope, installId: string): Promise<number> {
  return (await store.readOne(scope, count, { installId }))?.count ?? 0;
}

/** @param how present mode and time, and the leases for a batch of several runs */
export function reviveRunOps(
  queue: WorkQueue,
  scope: Scope,
  run: RunRow,
  how: { readonly mode: string; readonly nowMs: number; readonly leases: Leases },
): readonly Op[] {
  return [
    tenantOp(scope, revive, { id: run.id, mode: how.mode }, { expectRows: 1 }),
    queueRunOp(queue, scope, keyOf(run), how.nowMs, how.leases),
  ];
}
