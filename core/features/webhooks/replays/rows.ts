// Rows of replays and their progress. A row is updated in the batch that creates the deliveries.
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';

/** A type and not an interface, so that it is assignable to the row type of the store. */
export type ReplayRow = {
  readonly id: string;
  readonly endpoint_id: string;
  readonly since: number | null;
  readonly until: number | null;
  readonly only_undelivered: number;
  readonly status: 'running' | 'done' | 'canceled';
  readonly after_sequence: number;
  readonly current_sequence: number;
  readonly last_sequence: number;
  readonly deliveries: number;
  readonly created_at: number;
  readonly finished_at: number | null;
};

export const replayColumns =
  'id, endpoint_id, since, until, only_undelivered, status, after_sequence, current_sequence, last_sequence, deliveries, created_at, finished_at';

export const findReplay = tenantStatement<ReplayRow>(
  'replays.find',
  `SELECT ${replayColumns} FROM replays WHERE workspace_id = :ws AND id = :id`,
);
const insert = tenantStatement(
  'replays.insert',
  `INSERT INTO replays (workspace_id, ${replayColumns})
   VALUES (:ws, :id, :endpoint_id, :since, :until, :only_undelivered, :status, :after_sequence, :current_sequence, :last_sequence,
     :deliveries, :created_at, :finished_at)`,
);
const move = tenantStatement(
  'replays.move',
  `UPDATE replays SET current_sequence = :to, deliveries = deliveries + :made, status = :status, finished_at = :finishedAt
   WHERE workspace_id = :ws AND id = :id AND status = 'running' AND current_sequence = :from`,
);
const cancel = tenantStatement(
  'replays.cancel',
  `UPDATE replays SET status = 'canceled', finished_at = :now WHERE workspace_id = :ws AND id = :id AND status = 'running'`,
);
/** Returns which of the events in `eventIds` (a JSON array) were or will be delivered to an endpoint. */
export const settledEvents = tenantStatement<{ event_id: string }>(
  'deliveries.settled_events',
  `SELECT event_id FROM deliveries INDEXED BY deliveries_event WHERE workspace_id = :ws AND event_id IN (SELECT value FROM json_each(:eventIds))
     AND endpoint_id = :endpointId AND status IN ('pending', 'retrying', 'delivered')`,
);

export function insertReplayOp(scope: Scope, row: ReplayRow): Op {
  return tenantOp(scope, insert, { ...row });
}

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

export function cancelReplayOp(scope: Scope, id: string, nowMs: number): Op {
  return tenantOp(scope, cancel, { id, now: nowMs }, { expectRows: 1 });
}
