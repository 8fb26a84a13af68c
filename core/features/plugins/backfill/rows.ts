// Stores backfills: ranges of the event log that an install missed while disabled. A backfill opens in the batch that
// disables the install and closes in the batch that enables it. Both limits are sequences, so each event is
// either planned on arrival or in exactly one backfill.
import { neverMs, type WorkQueue } from '../../../kernel/events/work/queue.ts';
import type { RowOf } from '../../../kernel/table/define.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import type { Install } from '../installs/model.ts';
import { pluginBackfillTable } from '../tables.ts';

export type BackfillRow = RowOf<typeof pluginBackfillTable>;

const lastEvent = '(SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws)';
const isOff = `(SELECT 1 FROM plugin_backfills WHERE workspace_id = :ws AND install_id = :installId AND status = 'off')`;

export const findBackfill = pluginBackfillTable.selectAll('find', ['id']);
export const backfillsOfInstall = pluginBackfillTable.selectAll(
  'of_install',
  ['install_id'],
  'ORDER BY created_at, id',
);
const drop = pluginBackfillTable.remove('drop', ['install_id']);
const request = pluginBackfillTable.update(
  'request',
  ['status'],
  ['install_id'],
  "status IN ('counting', 'offered')",
);
const counted = pluginBackfillTable.update(
  'counted',
  ['status', 'missed', 'finished_at'],
  ['id'],
  "status = 'counting'",
);
/**
 * A backfill begins at the consumer's cursor, because earlier events have runs, or at `since_sequence` if that is
 * later. If another backfill is still open, the new backfill begins at the last event, where the other one closes.
 */
const open = tenantStatement(
  'plugin_backfills.open',
  `INSERT INTO plugin_backfills (workspace_id, id, install_id, cause, after_sequence, status, created_at)
   SELECT :ws, :id, :installId, :cause, CASE WHEN EXISTS ${isOff} THEN ${lastEvent} ELSE max(
       coalesce((SELECT sequence FROM cursors WHERE workspace_id = :ws AND consumer = 'plugins'), 0),
       coalesce((SELECT since_sequence FROM plugins WHERE workspace_id = :ws AND id = :installId), 0)) END, 'off', :now`,
);
/** Makes the install receive only events after the batch that enables it. */
const listenFromHere = tenantStatement(
  'plugin_backfills.listen_from_here',
  `UPDATE plugins SET since_sequence = ${lastEvent} WHERE workspace_id = :ws AND id = :installId AND EXISTS ${isOff}`,
);
const wakeClosing = tenantStatement(
  'plugin_backfills.wake_closing',
  `UPDATE due_work SET due_at = :now WHERE workspace_id = :ws AND lease_owner IS NULL AND id IN
     (SELECT id FROM plugin_backfills WHERE workspace_id = :ws AND install_id = :installId AND status IN ('off', 'counting') AND id <> :id)`,
);
const close = tenantStatement(
  'plugin_backfills.close',
  `UPDATE plugin_backfills SET status = 'counting', until_sequence = ${lastEvent}
   WHERE workspace_id = :ws AND install_id = :installId AND status = 'off' AND id <> :id`,
);
const dropWork = tenantStatement(
  'plugin_backfills.drop_work',
  `DELETE FROM due_work WHERE workspace_id = :ws AND id IN
     (SELECT id FROM plugin_backfills WHERE workspace_id = :ws AND install_id = :installId)`,
);
const wakeRequested = tenantStatement(
  'plugin_backfills.wake_requested',
  `UPDATE due_work SET due_at = :now WHERE workspace_id = :ws AND lease_owner IS NULL AND id IN
     (SELECT id FROM plugin_backfills WHERE workspace_id = :ws AND install_id = :installId AND status = 'running')`,
);
const move = tenantStatement(
  'plugin_backfills.move',
  `UPDATE plugin_backfills SET after_sequence = :to, runs = runs + :made, status = :status, finished_at = :finishedAt
   WHERE workspace_id = :ws AND id = :id AND status = 'running' AND after_sequence = :from`,
);
/** Selects events by root (`:roots`, a JSON array of event ids) for which an install has a run. */
export const metEvents = tenantStatement<{ event_id: string }>(
  'runs.met_events',
  `SELECT event_id FROM runs INDEXED BY runs_root WHERE workspace_id = :ws AND root_event_id IN (SELECT value FROM json_each(:roots))
     AND install_id = :installId AND event_id IS NOT NULL`,
);

/**
 * Returns the ops that open, close or remove the backfills of an install whose state changed. They must follow the
 * ops of the batch's events.
 */
export function backfillOps(
  queue: WorkQueue,
  scope: Scope,
  install: Install,
  at: { readonly backfillId: string; readonly nowMs: number },
): Op[] {
  const installId = install.id;
  if (install.deletedAt !== null)
    return [tenantOp(scope, dropWork, { installId }), drop(scope, { install_id: installId })];
  const closing = { installId, id: at.backfillId };
  const closes = [
    tenantOp(scope, wakeClosing, { ...closing, now: at.nowMs }),
    tenantOp(scope, close, closing),
  ];
  if (install.state === 'active') return [tenantOp(scope, listenFromHere, { installId }), ...closes];
  const cause = install.state === 'paused_by_admin' ? 'person' : 'system';
  return [
    tenantOp(scope, open, { id: at.backfillId, installId, cause, now: at.nowMs }),
    queue.add(scope, installId, at.backfillId, neverMs),
    ...closes,
  ];
}

export function requestOps(scope: Scope, installId: string, nowMs: number): Op[] {
  return [
    request(scope, { install_id: installId, status: 'running' }),
    tenantOp(scope, wakeRequested, { installId, now: nowMs }),
  ];
}

/** @param missed number of missed events, without given-up runs, which are counted on each request */
export function countedOp(scope: Scope, id: string, missed: number, doneAtMs: number | null): Op {
  const status = doneAtMs === null ? 'offered' : 'done';
  return counted(scope, { id, missed, status, finished_at: doneAtMs }, { expectRows: 1 });
}

export interface BackfillAdvance {
  readonly from: number;
  readonly to: number;
  /** Number of runs created in this step. */
  readonly made: number;
  readonly status: 'running' | 'done';
  readonly finishedAt: number | null;
}

export function advanceBackfillOp(scope: Scope, id: string, to: BackfillAdvance): Op {
  return tenantOp(scope, move, { id, ...to }, { expectRows: 1 });
}
