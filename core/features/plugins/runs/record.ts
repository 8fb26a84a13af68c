// Writes the record of a run that has ended or waits for its next attempt, with the error and the event of
// its end.
import { plainText } from '../../../platform/lib/text/printable.ts';
import type { SandboxOutcome } from '../../../platform/sandbox/supervisor.ts';
import { traitsOf } from '../planning/limits.ts';
import { positionText, readStack, withSourcePositions, type SourceMapLookup } from '../source-positions.ts';
import { type RunRow, keyOf, queueRunOp, runColumns, type RunStatus } from './rows.ts';
import type { Leases, WorkQueue } from '../../../kernel/events/work/queue.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import type { InstallMode } from '../installs/contract.ts';
import type { RunEffect } from './effects.ts';
import type { Static } from 'typebox';
import { announce, type Change } from '../../../kernel/changes/change.ts';
import { inboxItem } from '../../inbox/contract.ts';
import { proposal } from '../../proposals/contract.ts';
import type { Install } from '../installs/model.ts';
import { kvModelName } from '../kv/entries.ts';
import { oneTimeJobModelName } from '../schedules/one-time-jobs.ts';
import type { AutomationRun } from '../contract.ts';

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

interface PluginName {
  readonly pluginId: string;
  readonly name: string;
}

interface RanBy extends PluginName {
  readonly pluginVersion: string | null;
}

interface FinishedRun extends EndedAttempt {
  readonly run: RunRow;
  readonly status: 'succeeded' | 'dead';
  readonly mode: InstallMode;
  readonly by: RanBy;
  readonly calls: readonly { readonly op: string; readonly ok: boolean }[];
  /** Committed writes. */
  readonly changes: readonly Change[];
}

/**
 * Entities that do not count as an action of the run: stored values and jobs of the plugin, proposals and
 * inbox items.
 */
const beside: ReadonlySet<string> = new Set([
  kvModelName,
  oneTimeJobModelName,
  proposal.name,
  inboxItem.name,
]);

/**
 * Returns the event of an ended run: `automation.run` if it did something, `automation.failed` if it failed;
 * null if it emits none. See docs/decisions/0064.
 */
export function endedRunEvent(over: FinishedRun): Change | null {
  const { run, status, mode, by, error } = over;
  const did = doneBy(over);
  const isEmitted = status === 'dead' ? isTrueFailure(over) : hasActed(did);
  if (!isEmitted) return null;
  const data: Static<typeof AutomationRun> = {
    runId: run.id,
    installId: run.install_id,
    pluginId: by.pluginId,
    pluginVersion: by.pluginVersion,
    handler: run.handler,
    handlerKind: run.handler_kind,
    eventId: run.event_id,
    mode,
    status,
    attempt: over.attempt,
    ...did,
    errorCode: error?.code ?? null,
  };
  const type = status === 'succeeded' ? 'automation.run' : 'automation.failed';
  return announce({ kind: 'run', id: run.id }, type, data);
}

/** A simulated run has no effects to lose, and a given-up run can be backfilled, so `automation.failed` is emitted for neither of them. */
function isTrueFailure({ mode, error }: FinishedRun): boolean {
  return mode !== 'simulate' && error?.code !== abandonedCode;
}

function hasActed({ changed, fetches, proposalId }: ReturnType<typeof doneBy>): boolean {
  return changed > 0 || fetches > 0 || proposalId !== null;
}

function doneBy({ mode, calls, changes }: FinishedRun) {
  const answered = calls.filter(({ op, ok }) => ok && op === 'net.fetch').length;
  return {
    calls: calls.length,
    changed: changes.filter(({ kind }) => !beside.has(kind)).length,
    // A simulated run sends nothing; its answers come from the journal.
    fetches: mode === 'simulate' ? 0 : answered,
    proposalId: changes.find(({ kind }) => kind === proposal.name)?.id ?? null,
  };
}

const findPlugin = tenantStatement<PluginName>(
  'plugins.of_run',
  `SELECT plugin_id AS pluginId, coalesce(manifest_json->>'name', plugin_id) AS name FROM plugins
   WHERE workspace_id = :ws AND id = :id`,
);

/** Returns the plugin of a run. @param install install at the last attempt; absent without an attempt */
export async function ranBy(store: Store, scope: Scope, run: RunRow, install?: Install): Promise<RanBy> {
  if (install) {
    const { pluginId, pluginVersion, manifest } = install;
    return { pluginId, pluginVersion, name: manifest.name ?? pluginId };
  }
  const { install_id: id } = run;
  const pluginRow = await store.readOne(scope, findPlugin, { id });
  return { ...(pluginRow ?? { pluginId: id, name: id }), pluginVersion: null };
}

/** Failure of a run: the reason, and the place in the author's source. */
export interface RunError {
  readonly code: string;
  readonly message: string;
  /** Place in the author's source, such as `plugin.ts:14:9`; absent if the stack has none. */
  readonly at?: string;
  /** Frames of the plugin's code, innermost first. */
  readonly stack?: readonly string[];
}

/**
 * Returns the error of a run that ends before its next attempt: the reason, with the error of its last
 * attempt.
 */
export function endedError({ error_json: last }: RunRow, reason: RunError): RunError {
  if (last === null) return reason;
  const { code, message, ...where } = JSON.parse(last) as RunError;
  return { ...reason, message: `${reason.message} The last attempt failed (${code}): ${message}`, ...where };
}

export type FailedOutcome = Extract<SandboxOutcome, { status: 'failed' }>;

/** Reasons that concern a limit and no line of the source, so the message names the handler. */
const limits: ReadonlySet<FailedOutcome['reason']> = new Set([
  'cpu',
  'wall',
  'memory',
  'call_budget',
  'killed',
]);

export function runErrorOf(
  { reason, message, stack }: FailedOutcome,
  run: RunRow,
  find: SourceMapLookup,
): RunError {
  const { at, frames } = readStack(stack, find);
  const handler = `${traitsOf[run.handler_kind].title} ${run.handler}: `;
  const text = withSourcePositions((limits.has(reason) ? handler : '') + message, find);
  return {
    code: reason,
    message: plainText(text),
    ...(at ? { at: plainText(positionText(at)) } : {}),
    ...(frames.length > 0 ? { stack: frames.map(plainText) } : {}),
  };
}

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
