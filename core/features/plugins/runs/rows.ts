// Stores runs: queues, ends and reads their rows. Runs of one handler with the same order key execute in sequence: only the first is due,
// and the batch that ends it makes the next one due.
import { neverMs, returningWork, type Leases, type WorkQueue } from '../../../kernel/events/work/queue.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import type { InstallMode } from '../installs/contract.ts';
import { effectiveMode } from '../installs/mode.ts';
import type { Install } from '../installs/model.ts';
import type { HandlerKind } from '../../../../sdk/plugin/handlers.ts';

export type RunStatus = 'queued' | 'running' | 'succeeded' | 'retrying' | 'dead';

export interface RunRow {
  readonly id: string;
  readonly install_id: string;
  readonly handler_kind: HandlerKind;
  readonly handler: string;
  readonly order_key: string;
  readonly sequence: number;
  readonly event_id: string | null;
  readonly root_event_id: string | null;
  readonly depth: number;
  readonly status: RunStatus;
  readonly mode: InstallMode;
  readonly attempt: number;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly cpu_ms: number | null;
  readonly memory_bytes: number | null;
  readonly wall_ms: number | null;
  readonly queue_ms: number | null;
  readonly events_json: string;
  readonly calls_json: string;
  readonly effects_json: string;
  readonly logs_json: string;
  readonly error_json: string | null;
  readonly progress_json: string | null;
  readonly continued_by: string | null;
  readonly continuation: number;
  readonly fired_at: number | null;
  readonly interruptions: number;
  readonly undone_by: string | null;
  /** JSON of a `RunInput`; null for a run triggered by an event or by the time of its schedule. */
  readonly input_json: string | null;
  /** JSON of the value returned by an action or a route. */
  readonly result_json: string | null;
  readonly proposal_id: string | null;
  /** Plugin version of the last attempt; null if none has ended. */
  readonly plugin_version: string | null;
}

export const runColumns = `id, install_id, handler_kind, handler, order_key, sequence, event_id, root_event_id, depth, status, mode, attempt,
  created_at, started_at, finished_at, cpu_ms, memory_bytes, wall_ms, queue_ms, events_json, calls_json, effects_json, logs_json, error_json,
  progress_json, continued_by, continuation, fired_at, interruptions, input_json, result_json, proposal_id, plugin_version,
  (SELECT k.undone_by FROM stored_changes AS k WHERE k.workspace_id = runs.workspace_id AND k.id = runs.id) AS undone_by`;

const insertRun = tenantStatement(
  'runs.insert',
  `INSERT INTO runs (workspace_id, id, install_id, handler_kind, handler, order_key, sequence, event_id, root_event_id, depth,
     status, mode, attempt, created_at, finished_at, error_json, input_json)
   VALUES (:ws, :id, :installId, :handlerKind, :handler, :orderKey, :sequence, :eventId, :rootEventId, :depth,
     :status, :mode, 0, :now, :finishedAt, :error, :input)`,
);
const insertRuns = tenantStatement(
  'runs.insert_all',
  `INSERT INTO runs (workspace_id, id, install_id, handler_kind, handler, order_key, sequence, event_id, root_event_id, depth,
     status, mode, attempt, created_at)
   SELECT :ws, value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8,
     'queued', value->>9, 0, value->>10 FROM json_each(:runs)`,
);
/**
 * The run is due now if no earlier run with the same order key is open; otherwise it becomes due when that
 * run ends.
 */
const queueRun = tenantStatement(
  'runs.queue',
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   SELECT :ws, :id, 'run', :installId, CASE WHEN blocked THEN :never ELSE :dueAt END, CASE WHEN blocked THEN 0 ELSE :leaseUntil END,
     CASE WHEN NOT blocked THEN :owner END, 1
   FROM (SELECT EXISTS (SELECT 1 FROM runs WHERE workspace_id = :ws AND install_id = :installId AND handler = :handler
     AND order_key = :orderKey AND sequence < :sequence AND status IN ('queued', 'running', 'retrying')) AS blocked)
   ${returningWork}`,
);
const releaseNext = tenantStatement(
  'runs.release_next',
  `UPDATE due_work SET due_at = :dueAt, lease_until = :leaseUntil, lease_owner = :owner, epoch = epoch + 1
   WHERE workspace_id = :ws AND due_at = :never AND id = (SELECT id FROM runs WHERE workspace_id = :ws AND install_id = :installId
     AND handler = :handler AND order_key = :orderKey AND sequence > :sequence AND status IN ('queued', 'running', 'retrying')
     ORDER BY sequence LIMIT 1)
   ${returningWork}`,
);
const interrupted = tenantStatement(
  'runs.interrupted',
  'UPDATE runs SET interruptions = interruptions + 1 WHERE workspace_id = :ws AND id = :id',
);
const setProposal = tenantStatement(
  'runs.proposed',
  'UPDATE runs SET proposal_id = :proposalId WHERE workspace_id = :ws AND id = :id',
);
const findRunRow = tenantStatement<RunRow>(
  'runs.find',
  `SELECT ${runColumns} FROM runs WHERE workspace_id = :ws AND id = :id`,
);
const openOfKey = tenantStatement<{ id: string }>(
  'runs.open_of_key',
  `SELECT id FROM runs INDEXED BY runs_open WHERE workspace_id = :ws AND install_id = :installId AND handler = :handler
     AND order_key = :orderKey AND status IN ('queued', 'running', 'retrying') LIMIT 1`,
);
const countOfRoot = tenantStatement<{ count: number }>(
  'runs.of_root',
  'SELECT count(*) AS count FROM (SELECT 1 FROM runs WHERE workspace_id = :ws AND root_event_id = :rootEventId LIMIT 100)',
);
const openOfHandler = tenantStatement<{ id: string }>(
  'runs.open_of_handler',
  `SELECT id FROM runs INDEXED BY runs_open WHERE workspace_id = :ws AND install_id = :installId AND handler = :handler
     AND status IN ('queued', 'running', 'retrying') LIMIT 1`,
);

/** Identity of a run and its place in the order of runs. */
interface RunKey {
  readonly id: string;
  readonly installId: string;
  readonly handler: { readonly kind: HandlerKind; readonly name: string };
  readonly orderKey: string;
  readonly sequence: number;
}

export interface NewRun extends RunKey {
  readonly eventId: string | null;
  readonly rootEventId: string | null;
  readonly depth: number;
  readonly mode: InstallMode;
  /** JSON of a `RunInput`. */
  readonly inputJson?: string | null;
}

/** Returns a new run of a schedule, due by its time or by request. */
export function scheduledRun(id: string, install: Install, schedule: string, nowMs: number): NewRun {
  return {
    id,
    installId: install.id,
    handler: { kind: 'schedule', name: schedule },
    orderKey: 'schedule',
    sequence: nowMs,
    eventId: null,
    rootEventId: null,
    depth: 0,
    mode: effectiveMode(install),
  };
}

/** @param leases leases for a batch of several runs; default those of the queue */
export function queueRunOps(
  queue: WorkQueue,
  scope: Scope,
  run: NewRun,
  nowMs: number,
  leases: Leases = queue,
): [insert: Op, due: Op] {
  return [
    tenantOp(scope, insertRun, {
      ...rowOf(run),
      status: 'queued',
      now: nowMs,
      finishedAt: null,
      error: null,
      input: run.inputJson ?? null,
    }),
    queueRunOp(queue, scope, run, nowMs, leases),
  ];
}

/** Returns the arguments of `queueRunOp` from a run's row. */
export function keyOf(run: RunRow): RunKey {
  return {
    id: run.id,
    installId: run.install_id,
    handler: { kind: run.handler_kind, name: run.handler },
    orderKey: run.order_key,
    sequence: run.sequence,
  };
}

/** Returns the op for the work row of a run. @param leases as for `queueRunOps` */
export function queueRunOp(
  queue: WorkQueue,
  scope: Scope,
  run: RunKey,
  nowMs: number,
  leases: Leases = queue,
): Op {
  return queue.due(
    tenantOp(scope, queueRun, {
      id: run.id,
      installId: run.installId,
      handler: run.handler.name,
      orderKey: run.orderKey,
      sequence: run.sequence,
      never: neverMs,
      ...leases.lease(scope, run.installId, nowMs),
    }),
  );
}

/** Returns the row of a run that has just been queued. */
export function queuedRow(run: NewRun, nowMs: number): RunRow {
  return {
    id: run.id,
    install_id: run.installId,
    handler_kind: run.handler.kind,
    handler: run.handler.name,
    order_key: run.orderKey,
    sequence: run.sequence,
    event_id: run.eventId,
    root_event_id: run.rootEventId,
    depth: run.depth,
    status: 'queued',
    mode: run.mode,
    attempt: 0,
    created_at: nowMs,
    started_at: null,
    finished_at: null,
    cpu_ms: null,
    memory_bytes: null,
    wall_ms: null,
    queue_ms: null,
    events_json: '[]',
    calls_json: '[]',
    effects_json: '[]',
    logs_json: '[]',
    error_json: null,
    progress_json: null,
    continued_by: null,
    continuation: 0,
    fired_at: null,
    interruptions: 0,
    undone_by: null,
    input_json: run.inputJson ?? null,
    result_json: null,
    proposal_id: null,
    plugin_version: null,
  };
}

/** Returns the op that stores a run that was not started, so that users can see why nothing happened. */
export function deadRunOp(
  scope: Scope,
  run: NewRun,
  error: { code: string; message: string },
  nowMs: number,
): Op {
  return tenantOp(scope, insertRun, {
    ...rowOf(run),
    status: 'dead',
    now: nowMs,
    finishedAt: nowMs,
    error: JSON.stringify(error),
    input: run.inputJson ?? null,
  });
}

function rowOf(run: NewRun) {
  return {
    id: run.id,
    installId: run.installId,
    handlerKind: run.handler.kind,
    handler: run.handler.name,
    orderKey: run.orderKey,
    sequence: run.sequence,
    eventId: run.eventId,
    rootEventId: run.rootEventId,
    depth: run.depth,
    mode: run.mode,
  };
}

/** Inserts queued runs of one workspace. The caller inserts their work rows. */
export function insertRunsOp(scope: Scope, runs: readonly RunRow[]): Op {
  const rows = runs.map((run) => [
    ...[run.id, run.install_id, run.handler_kind, run.handler, run.order_key, run.sequence],
    ...[run.event_id, run.root_event_id, run.depth, run.mode, run.created_at],
  ]);
  return tenantOp(scope, insertRuns, { runs: JSON.stringify(rows) });
}

/** Links a run to its proposal. */
export function proposedOp(scope: Scope, id: string, proposalId: string): Op {
  return tenantOp(scope, setProposal, { id, proposalId });
}

/** Counts an interruption that the run did not cause. */
export function interruptedOp(scope: Scope, id: string): Op {
  return tenantOp(scope, interrupted, { id });
}

/** Makes the next run of the same order key due. Returns no ops if no run can be waiting for this one. */
export function releaseNextOps(queue: WorkQueue, scope: Scope, run: RunRow, nowMs: number): Op[] {
  if (run.order_key === run.id) return [];
  const params = {
    installId: run.install_id,
    handler: run.handler,
    orderKey: run.order_key,
    sequence: run.sequence,
    never: neverMs,
    ...queue.lease(scope, run.install_id, nowMs),
  };
  return [queue.due(tenantOp(scope, releaseNext, params))];
}

export function findRun(store: Store, scope: Scope, id: string): Promise<RunRow | undefined> {
  return store.readOne(scope, findRunRow, { id });
}

/** True if a stored run with the same order key is open. */
export async function isOpenBefore(store: Store, scope: Scope, run: RunRow): Promise<boolean> {
  const key = { installId: run.install_id, handler: run.handler, orderKey: run.order_key };
  return (await store.readOne(scope, openOfKey, key)) !== undefined;
}

/** Returns the number of runs of a root event, at most 100. */
export async function runsOfRoot(store: Store, scope: Scope, rootEventId: string): Promise<number> {
  return (await store.readOne(scope, countOfRoot, { rootEventId }))?.count ?? 0;
}

/** Returns the id of an open run of a schedule; undefined if there is none. */
export async function findOpenRun(
  store: Store,
  scope: Scope,
  installId: string,
  handler: string,
): Promise<string | undefined> {
  return (await store.readOne(scope, openOfHandler, { installId, handler }))?.id;
}

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
