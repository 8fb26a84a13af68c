// State machine of a run: every statement that writes a status. Each updates only rows whose status it may
// leave, so the database refuses a transition that this table lacks. docs/decisions/0090.
//
// | Transition | From                      | To                        | Cause |
// |------------|---------------------------|---------------------------|-------|
// | queue      | -                         | queued                    | event, time, call, continuation |
// | cut        | -                         | dead                      | loop, or job without its schedule |
// | end        | queued, waiting, retrying | succeeded, proposed, dead | the last attempt |
// | put off    | queued, waiting, retrying | retrying                  | a failed or interrupted attempt |
// | give up    | queued, waiting, retrying | dead, canceled            | lost rights; inactivity, request |
// | wait       | queued, waiting, retrying | waiting                   | an exhausted budget |
// | wake       | waiting                   | queued                    | a budget with capacity |
// | decide     | proposed                  | succeeded, canceled       | the decision on the proposal |
// | requeue    | dead, canceled            | queued                    | a retry or a backfill |
//
// `running` is an open run that a process has leased. It is not stored, because that would be one more write
// per run, and a killed process would leave it behind. Most runs of events end in memory and are stored by
// `end` only: their first status is their last.
//
// Runs of one handler with the same order key execute in sequence. Of the open runs of a key only one is due,
// and the batch that ends it makes the earliest of the others due.
import type { EntityResponse } from '../../../kernel/contract/contract.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { neverMs, returningWork, type Leases, type WorkQueue } from '../../../kernel/events/work/queue.ts';
import { systemStatement, tenantStatement } from '../../../platform/store/statement.ts';
import { systemOp, tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import type { proposal } from '../../proposals/contract.ts';
import type { RunStatus } from '../contract.ts';
import { isOpenStatus, openRun } from '../tables.ts';
import {
  endedColumns,
  keyOf,
  newColumns,
  pick,
  queuedColumns,
  queuedRow,
  recorded,
  type NewRun,
  type RunKey,
  type RunRecord,
  type RunRow,
} from './rows.ts';

/** Statuses from which a run can be queued again. */
const requeuedStatuses = ['dead', 'canceled'] as const satisfies readonly RunStatus[];

const listed = (statuses: readonly RunStatus[]): string => statuses.map((one) => `'${one}'`).join(', ');
export const isOpen = ({ status }: Pick<RunRow, 'status'>): boolean => isOpenStatus(status);

/** True if the run can be queued again. */
export function isRetriable({ status }: Pick<RunRow, 'status'>): boolean {
  return (requeuedStatuses as readonly RunStatus[]).includes(status);
}

const params = (columns: readonly string[]): string => columns.map((column) => `:${column}`).join(', ');
const insertOf = (columns: readonly string[]): string =>
  `INSERT INTO runs (workspace_id, ${columns.join(', ')}) VALUES (:ws, ${params(columns)})`;
const ofOpenRun = `WHERE workspace_id = :ws AND id = :id AND ${openRun}`;

const insertNew = tenantStatement('runs.insert', insertOf(newColumns));
const insertQueued = tenantStatement(
  'runs.insert_all',
  `INSERT INTO runs (workspace_id, ${queuedColumns.join(', ')})
   SELECT :ws, ${queuedColumns.map((_, at) => `value->>${at}`).join(', ')} FROM json_each(:runs)`,
);
const insertEnded = tenantStatement('runs.insert_ended', insertOf(endedColumns));
/** An attempt that was never started has no version, so the row retains that of the last one. */
const assigned = (column: string): string =>
  column === 'plugin_version' ? `${column} = coalesce(:${column}, ${column})` : `${column} = :${column}`;
const record = tenantStatement(
  'runs.record',
  `UPDATE runs SET ${recorded.map(assigned).join(', ')}
   ${ofOpenRun} AND :status IN (${listed(['succeeded', 'proposed', 'dead', 'retrying'])})`,
);
const giveUp = tenantStatement(
  'runs.give_up',
  `UPDATE runs SET status = :status, finished_at = :now, error_json = :error
   ${ofOpenRun} AND :status IN (${listed(['dead', 'canceled'])})`,
);
const wait = tenantStatement('runs.wait', `UPDATE runs SET status = 'waiting' ${ofOpenRun}`);
const decide = tenantStatement(
  'runs.decide',
  `UPDATE runs SET status = CASE WHEN :error IS NULL OR ${hasApplied()} THEN 'succeeded' ELSE 'canceled' END,
     error_json = CASE WHEN NOT ${hasApplied()} THEN :error END
   WHERE workspace_id = :ws AND id = :id AND status = 'proposed' AND proposal_id = :proposalId`,
);
const requeue = tenantStatement(
  'runs.requeue',
  `UPDATE runs SET status = 'queued', mode = :mode, finished_at = NULL, error_json = NULL, proposal_id = NULL,
     interruptions = 0
   WHERE workspace_id = :ws AND id = :id AND status IN (${listed(requeuedStatuses)})`,
);

type Decided = Pick<EntityResponse<typeof proposal>, 'id' | 'runId' | 'status'>;

function hasApplied(): string {
  return `EXISTS (SELECT 1 FROM json_each(effects_json, '$') AS v WHERE v.value->>'outcome' = 'applied')`;
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
    tenantOp(scope, insertNew, pick(queuedRow(run, nowMs), newColumns)),
    queueRunOp(queue, scope, run, nowMs, leases),
  ];
}

/** Inserts queued runs of one workspace. The caller inserts their work rows. */
export function insertRunsOp(scope: Scope, runs: readonly RunRow[]): Op {
  const rows = runs.map((run) => queuedColumns.map((column) => run[column]));
  return tenantOp(scope, insertQueued, { runs: JSON.stringify(rows) });
}

/** Returns the op that stores a run that was not started, so that users can see why nothing happened. */
export function cutRunOp(
  scope: Scope,
  run: NewRun,
  error: { code: string; message: string },
  nowMs: number,
): Op {
  const ended = { status: 'dead', finished_at: nowMs, error_json: JSON.stringify(error) } as const;
  return tenantOp(scope, insertNew, pick({ ...queuedRow(run, nowMs), ...ended }, newColumns));
}

/** Inserts the row of a run that had none; fails if a row with its id exists after all. */
export function endedRunOp(scope: Scope, row: RunRow, run: RunRecord): Op {
  return tenantOp(scope, insertEnded, pick({ ...row, ...run }, endedColumns));
}

/** Stores the record of an attempt, which ended the run or is followed by another one. */
export function recordRunOp(scope: Scope, id: string, run: RunRecord): Op {
  return tenantOp(scope, record, { id, ...run }, { expectRows: 1 });
}

/** Ends a run without a further attempt; the record of its last attempt stays. */
export function giveUpOp(
  scope: Scope,
  id: string,
  { status, error }: { readonly status: 'dead' | 'canceled'; readonly error: object },
  now: number,
): Op {
  return tenantOp(scope, giveUp, { id, status, now, error: JSON.stringify(error) }, { expectRows: 1 });
}

/** Marks a run that its budget defers. The caller defers its work. */
export function waitOp(scope: Scope, id: string): Op {
  return tenantOp(scope, wait, { id }, { expectRows: 1 });
}

/**
 * Ends a proposed run after the decision on its proposal. Without an error the writes were approved, at least
 * in part. A rejection cancels the run, unless some of its writes were applied without a proposal: a retry
 * would repeat them.
 */
function decideOp(scope: Scope, id: string, proposalId: string, error: object | null): Op {
  return tenantOp(scope, decide, { id, proposalId, error: error && JSON.stringify(error) });
}

/** @param how present mode and time, and the leases for a batch of several runs */
export function requeueRunOps(
  queue: WorkQueue,
  scope: Scope,
  run: RunRow,
  how: { readonly mode: string; readonly nowMs: number; readonly leases?: Leases },
): readonly Op[] {
  const { mode, nowMs, leases = queue } = how;
  return [
    tenantOp(scope, requeue, { id: run.id, mode }, { expectRows: 1 }),
    workOp(queue, scope, insertReturning, keyOf(run), leases.lease(scope, run.install_id, nowMs)),
  ];
}

/**
 * Returns the op that ends the proposed run of a decided proposal. It follows the event of the decision, because proposals
 * are also decided by time and by the end of their plugin.
 */
export function decidedRunOps(scope: Scope, { type, data }: Pick<EventRow, 'type' | 'data'>): readonly Op[] {
  if (type !== 'automation.approved' && type !== 'automation.rejected') return [];
  const { id, runId, status } = data as Decided;
  if (runId === null) return [];
  const isApproved = status === 'approved' || status === 'partly_approved';
  const message = `The proposal ${id} is ${status}. Retry the run to propose its writes again.`;
  const error = isApproved ? null : { code: `proposal_${status}`, message };
  return [decideOp(scope, runId, id, error)];
}

// Work rows of runs, in order.

const workRow = (blocked: string): string =>
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   SELECT :ws, :id, 'run', :installId, CASE WHEN blocked THEN :never ELSE :dueAt END,
     CASE WHEN blocked THEN 0 ELSE :leaseUntil END, CASE WHEN NOT blocked THEN :owner END, 1
   FROM (SELECT EXISTS (${blocked}) AS blocked)
   ${returningWork}`;
const ofKey = `r.workspace_id = :ws AND r.install_id = :installId AND r.handler = :handler
  AND r.order_key = :orderKey AND r.${openRun}`;
/** The run is due now unless an earlier one with its order key is open. */
const insertWork = tenantStatement(
  'runs.queue',
  workRow(`SELECT 1 FROM runs AS r WHERE ${ofKey} AND r.sequence < :sequence`),
);
/** A run that is queued again may be earlier than the one that is due, which keeps its turn. */
const insertReturning = tenantStatement(
  'runs.queue_again',
  workRow(`SELECT 1 FROM runs AS r INDEXED BY runs_open JOIN due_work AS w ON w.workspace_id = :ws AND w.id = r.id
     WHERE ${ofKey} AND r.id <> :id AND (w.due_at <> :never OR r.sequence < :sequence)`),
);
const releaseNext = tenantStatement(
  'runs.release_next',
  `UPDATE due_work SET due_at = :dueAt, lease_until = :leaseUntil, lease_owner = :owner, epoch = epoch + 1
   WHERE workspace_id = :ws AND due_at = :never
     AND id = (SELECT r.id FROM runs AS r WHERE ${ofKey} ORDER BY r.sequence LIMIT 1)
   ${returningWork}`,
);

function workOp(
  queue: WorkQueue,
  scope: Scope,
  statement: typeof insertWork,
  run: RunKey,
  leased: ReturnType<Leases['lease']>,
): Op {
  return queue.due(
    tenantOp(scope, statement, {
      id: run.id,
      installId: run.installId,
      handler: run.handler.name,
      orderKey: run.orderKey,
      sequence: run.sequence,
      never: neverMs,
      ...leased,
    }),
  );
}

/** Returns the op for the work row of a run. @param leases as for `queueRunOps` */
export function queueRunOp(
  queue: WorkQueue,
  scope: Scope,
  run: RunKey,
  nowMs: number,
  leases: Leases = queue,
): Op {
  return workOp(queue, scope, insertWork, run, leases.lease(scope, run.installId, nowMs));
}

/** Makes the next run of the same order key due. Returns no ops if no run can be waiting for this one. */
export function releaseNextOps(queue: WorkQueue, scope: Scope, run: RunRow, nowMs: number): Op[] {
  if (run.order_key === run.id) return [];
  const params = {
    installId: run.install_id,
    handler: run.handler,
    orderKey: run.order_key,
    never: neverMs,
    ...queue.lease(scope, run.install_id, nowMs),
  };
  return [queue.due(tenantOp(scope, releaseNext, params))];
}

const openOfKey = tenantStatement<{ id: string }>(
  'runs.open_of_key',
  `SELECT id FROM runs INDEXED BY runs_open
   WHERE workspace_id = :ws AND install_id = :installId AND handler = :handler
     AND order_key = :orderKey AND ${openRun} LIMIT 1`,
);
const openOfHandler = tenantStatement<{ id: string }>(
  'runs.open_of_handler',
  `SELECT id FROM runs INDEXED BY runs_open
   WHERE workspace_id = :ws AND install_id = :installId AND handler = :handler AND ${openRun} LIMIT 1`,
);

const openOfInstall = tenantStatement<{ id: string }>(
  'runs.open_of_install',
  `SELECT id FROM runs INDEXED BY runs_open WHERE workspace_id = :ws AND install_id = :installId AND ${openRun} LIMIT 1`,
);

/** True if any stored run of an install is open. */
export async function hasOpen(store: Store, scope: Scope, installId: string): Promise<boolean> {
  return (await store.readOne(scope, openOfInstall, { installId })) !== undefined;
}

/** True if a stored run with the same order key is open. */
export async function isOpenBefore(store: Store, scope: Scope, run: RunRow): Promise<boolean> {
  const key = { installId: run.install_id, handler: run.handler, orderKey: run.order_key };
  return (await store.readOne(scope, openOfKey, key)) !== undefined;
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

/** Limit of runs of a changed install that start at once; further runs wait for their planned time. */
const startedAtOnce = 1000;
const startOpen = tenantStatement(
  'due_work.wake_runs',
  `UPDATE due_work SET due_at = :now
   WHERE workspace_id = :ws AND lease_owner IS NULL AND due_at > :now AND due_at < ${neverMs}
     AND id IN (SELECT id FROM runs INDEXED BY runs_open WHERE workspace_id = :ws AND install_id = :installId
       AND ${openRun} LIMIT ${startedAtOnce})`,
);

/** Makes the open runs of a changed install due. */
export function startOpenOp(scope: Scope, installId: string, nowMs: number): Op {
  return tenantOp(scope, startOpen, { installId, now: nowMs });
}

/** Limit of runs that one batch wakes. */
export const wokenAtOnce = 500;
/** Condition on the work of a run that waits for a budget. */
const waitingWork = `kind = 'run' AND lease_owner IS NULL AND due_at = :until AND due_at < ${neverMs}`;
const waitingOfInstall = `SELECT id FROM due_work INDEXED BY due_work_due
  WHERE ${waitingWork} AND workspace_id = :workspaceId AND subject = :installId LIMIT ${wokenAtOnce}`;
const acrossWorkspaces = 'waiting runs are found by their due time, which all workspaces share';
const wake = systemStatement(
  'runs.wake',
  acrossWorkspaces,
  `UPDATE runs SET status = 'queued'
   WHERE workspace_id = :workspaceId AND id IN (${waitingOfInstall}) AND status = 'waiting'`,
);
const wakeWork = systemStatement<{ id: string }>(
  'due_work.wake_for_budget',
  acrossWorkspaces,
  `UPDATE due_work SET due_at = :now WHERE workspace_id = :workspaceId AND id IN (${waitingOfInstall})
   RETURNING id`,
);
const waitingInstalls = systemStatement<{ workspace_id: string; subject: string }>(
  'due_work.waiting_for_budget',
  'startup checks the waiting runs of all workspaces',
  `SELECT DISTINCT workspace_id, subject FROM due_work INDEXED BY due_work_due WHERE ${waitingWork}`,
);

/**
 * Makes a page of runs due that wait for a budget. The last op returns their ids.
 * @param untilMs time until which they were deferred
 */
export function wakeOps({ workspaceId }: Scope, installId: string, untilMs: number, nowMs: number): [Op, Op] {
  const at = { workspaceId, installId, until: untilMs };
  return [systemOp(wake, at), systemOp(wakeWork, { ...at, now: nowMs })];
}

/** Returns the installs with runs that wait for a budget. */
export function installsWaiting(store: Store, untilMs: number) {
  return store.readSystem(waitingInstalls, { until: untilMs });
}
