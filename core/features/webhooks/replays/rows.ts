// Rows of replays and their progress. A row is updated in the batch that creates the deliveries.
import type { RowOf } from '../../../kernel/table/define.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import { replayTable } from '../tables.ts';

export type ReplayRow = RowOf<typeof replayTable>;

export const findReplay = replayTable.selectAll('find', ['id']);
export const insertReplay = replayTable.insert('insert');
export const cancelReplay = replayTable.update(
  'cancel',
  ['status', 'finished_at'],
  ['id'],
  "status = 'running'",
);

const move = tenantStatement(
  'replays.move',
  `UPDATE replays SET current_sequence = :to, deliveries = deliveries + :made, status = :status, finished_at = :finishedAt
   WHERE workspace_id = :ws AND id = :id AND status = 'running' AND current_sequence = :from`,
);
/** Returns which of the events in `eventIds` (a JSON array) were or will be delivered to an endpoint. */
export const settledEvents = tenantStatement<{ event_id: string }>(
  'deliveries.settled_events',
  `SELECT event_id FROM deliveries INDEXED BY deliveries_event WHERE workspace_id = :ws AND event_id IN (SELECT value FROM json_each(:eventIds))
     AND endpoint_id = :endpointId AND status IN ('pending', 'retrying', 'delivered')`,
);

export interface ReplayMove {
  readonly from: number;
  readonly to: number;
  /** Number of deliveries this page creates. */
  readonly made: number;
  readonly status: ReplayRow['status'];
  readonly finishedAt: number | null;
}

export function moveReplayOp(scope: Scope, id: string, to: ReplayMove): Op {
  return tenantOp(scope, move, { id, ...to }, { expectRows: 1 });
}
