// Writes the record of a run that has ended or waits for its next attempt.
import { tenantStatement } from '../../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../../platform/store/store.ts';
import type { InstallMode } from '../../installs/contract.ts';
import type { RunEffect } from '../effects.ts';
import type { RunError } from './failure.ts';
import type { RunRow, RunStatus } from '../rows.ts';

const insertEnded = tenantStatement(
  'runs.insert_ended',
  `INSERT INTO runs (workspace_id, id, install_id, handler_kind, handler, order_key, sequence, event_id, root_event_id, depth,
     status, mode, attempt, created_at, started_at, finished_at, cpu_ms, memory_bytes, wall_ms, queue_ms, events_json, calls_json,
     effects_json, logs_json, error_json, result_json, plugin_version)
   VALUES (:ws, :id, :installId, :handlerKind, :handler, :orderKey, :sequence, :eventId, :rootEventId, :depth,
     :status, :mode, :attempt, :createdAt, :startedAt, :finishedAt, :cpuMs, :memoryBytes, :wallMs, :queueMs, :events, :calls,
     :effects, :logs, :error, :result, :pluginVersion)`,
);
const record = tenantStatement(
  'runs.record',
  `UPDATE runs SET status = :status, mode = :mode, attempt = :attempt, started_at = :startedAt, finished_at = :finishedAt, cpu_ms = :cpuMs,
     memory_bytes = :memoryBytes, wall_ms = :wallMs, queue_ms = :queueMs, events_json = :events, calls_json = :calls,
     effects_json = :effects, logs_json = :logs, error_json = :error, result_json = :result,
     plugin_version = coalesce(:pluginVersion, plugin_version)
   WHERE workspace_id = :ws AND id = :id AND status IN ('queued', 'running', 'retrying')`,
);

const endOpen = tenantStatement(
  'runs.end_open',
  `UPDATE runs SET status = 'dead', finished_at = :now, error_json = :error
   WHERE workspace_id = :ws AND id = :id AND status IN ('queued', 'running', 'retrying')`,
);

/** State of a run after an attempt. */
export interface EndedAttempt {
  readonly status: RunStatus;
  readonly attempt: number;
  readonly error: RunError | null;
}

export interface RunRecord extends EndedAttempt {
  /** Mode of the last attempt. */
  readonly mode: InstallMode;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly wallMs: number;
  readonly queueMs: number;
  readonly events: readonly { id: string; type: string }[];
  readonly calls: readonly unknown[];
  readonly effects: readonly RunEffect[];
  readonly logs: readonly unknown[];
  /** JSON text returned by an action or a route. */
  readonly result: string | null;
  /** Plugin version of the attempt; null without an attempt. */
  readonly pluginVersion: string | null;
}

export function recordRunOp(scope: Scope, id: string, run: RunRecord): Op {
  return tenantOp(scope, record, { id, ...columnsOf(run) }, { expectRows: 1 });
}

/** Ends a run without a further attempt; the record of its last attempt stays. @param error from `endedError` */
export function endOpenRunOp(scope: Scope, id: string, error: RunError, now: number): Op {
  return tenantOp(scope, endOpen, { id, now, error: JSON.stringify(error) }, { expectRows: 1 });
}

/** Inserts the row of a run that had none; fails if a row with its id exists after all. */
export function endedRunOp(scope: Scope, row: RunRow, run: RunRecord): Op {
  return tenantOp(scope, insertEnded, { ...newColumnsOf(row), createdAt: row.created_at, ...columnsOf(run) });
}

function newColumnsOf(row: RunRow) {
  return {
    id: row.id,
    installId: row.install_id,
    handlerKind: row.handler_kind,
    handler: row.handler,
    orderKey: row.order_key,
    sequence: row.sequence,
    eventId: row.event_id,
    rootEventId: row.root_event_id,
    depth: row.depth,
  };
}

function columnsOf({ events, calls, effects, logs, error, ...plain }: RunRecord) {
  return {
    ...plain,
    memoryBytes: Math.round(plain.memoryBytes),
    events: JSON.stringify(events),
    calls: JSON.stringify(calls),
    effects: JSON.stringify(effects),
    logs: JSON.stringify(logs),
    error: error && JSON.stringify(error),
  };
}
