// Reads runs, and queues a run of a schedule on request.
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import { cursorOf, type PageParameters } from '../../../kernel/changes/list.ts';
import { isoTime } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { ApiError, notFound } from '../../../platform/lib/errors/errors.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { limitDefault } from '../../../platform/lib/schema.ts';
import { readPage } from '../../../platform/store/page.ts';
import { effectTable } from '../../../kernel/rights/effects.ts';
import { showSpent } from '../budgets/budget.ts';
import type { Spent } from '../budgets/usage.ts';
import { recordingFacts, type RecordingFacts } from '../recorder/recording.ts';
import { declared } from '../installs/manifest.ts';
import { requireActive } from '../installs/mode.ts';
import { getInstall, getRunner } from '../installs/installs.ts';
import { progressOf, inputOf } from './job.ts';
import type { RunEffect } from './effects.ts';
import type { RunError } from './errors.ts';
import { findRun, queuedRow, runColumns, scheduledRun, type RunRow } from './rows.ts';
import { findOpenRun, queueRunOps } from './state.ts';

/** Scope for texts that plugins write, which can hold data from other servers. */
export const textScope = effectTable.logs.scope;
/** Stands in for such a text. */
export const hiddenText = `The message requires the scope ${textScope}. Use a key that has it.`;

/** State of runs that is not stored in their rows. */
interface ActiveRuns {
  /** True if a queued run is in progress. */
  isActive(runId: string): boolean;
}

export interface RunActivity extends ActiveRuns {
  /** Returns the exhausted budget that defers the runs of an install; null if there is none. */
  deferredBy(scope: Scope, installId: string): Promise<Spent | null>;
  /** Stores runs that have no row yet: of a whole workspace, or of one install. */
  storeWork(scope: Scope, installId?: string): Promise<void>;
}

/** Activity of a run that is just being queued. */
const notYet = { isActive: () => false };

export async function listRuns(
  ctx: Context,
  pluginId: string,
  query: PageParameters & { status?: string },
  activity: RunActivity,
) {
  const { id: installId } = await getRunner(ctx, pluginId);
  await activity.storeWork(ctx.scope, installId);
  const { data, pageInfo } = await readPage(ctx.store, ctx.sealing, ctx.scope, {
    table: 'runs',
    // The event data in the input can be long, so lists omit it.
    select: runColumns.replace('input_json', `json_remove(input_json, '$.event') AS input_json`),
    where: [
      { sql: 'install_id = :installId', params: { installId } },
      ...(query.status === undefined ? [] : [{ sql: 'status = :status', params: { status: query.status } }]),
    ],
    order: [{ sql: 'created_at', direction: 'desc' }],
    limit: query.limit ?? limitDefault,
    after: cursorOf(query),
    parameters: { installId, status: query.status },
  });
  const rows = data as unknown as RunRow[];
  const ids = rows.filter(({ finished_at }) => finished_at !== null).map(({ id }) => id);
  const recordings = await recordingFacts(ctx.store, ctx.scope, ids);
  const deferredBy = await activity.deferredBy(ctx.scope, installId);
  return {
    data: rows.map((row) =>
      toReaderResponse(ctx, showRun(row, activity, { recording: recordings.get(row.id), deferredBy })),
    ),
    pageInfo,
  };
}

export async function getRun(ctx: Context, id: string, activity: RunActivity) {
  const row = await findRunNow(ctx, id, activity);
  if (!row) throw notFound();
  const recordings = await recordingFacts(ctx.store, ctx.scope, [id]);
  const deferredBy = await activity.deferredBy(ctx.scope, row.install_id);
  return toReaderResponse(ctx, showRun(row, activity, { recording: recordings.get(id), deferredBy }));
}

/** Finds a run. If it has no row yet, the runs of the workspace are stored first. */
export async function findRunNow(
  ctx: Context,
  id: string,
  activity: RunActivity,
): Promise<RunRow | undefined> {
  const row = await findRun(ctx.store, ctx.scope, id);
  if (row) return row;
  await activity.storeWork(ctx.scope);
  return findRun(ctx.store, ctx.scope, id);
}

export async function runSchedule(
  ctx: Context,
  pluginId: string,
  schedule: string,
  queue: WorkQueue,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  if (!declared(install.manifest.schedules, schedule)) throw notFound();
  requireActive(install);
  const openRun = await findOpenRun(ctx.store, ctx.scope, install.id, schedule);
  if (openRun !== undefined)
    throw new ApiError(
      'conflict',
      `The schedule already has an open run, ${openRun}. Wait for it to end, or cancel it.`,
    );
  const now = ctx.nowMs();
  const run = scheduledRun(ctx.ids.next(idPrefixes.run), install, schedule, now);
  return {
    changes: [],
    ops: queueRunOps(queue, ctx.scope, run, now),
    body: showRun(queuedRow(run, now), notYet),
    status: 202,
    location: `${ctx.baseUrl}/api/v1/runs/${run.id}`,
  };
}

function showEffect(effect: RunEffect) {
  const { outcome = null, name = null, values = null } = effect;
  return { ...effect, outcome, name, values };
}

function showError({ code, message, at, stack }: RunError) {
  return { code, message, at: at ?? null, stack: stack ?? [] };
}

function showRecording({ bytes, at, truncated }: RecordingFacts) {
  return { bytes, at: isoTime(at), truncated };
}

function showProgress({ status }: RunRow, isActive: boolean, deferredBy: Spent | null) {
  if (status !== 'queued' && status !== 'waiting') return { status, waitsFor: null };
  return isActive
    ? { status: 'running' as const, waitsFor: null }
    : { status, waitsFor: showSpent(deferredBy) };
}

/** @param known facts that are not in the row */
export function showRun(
  row: RunRow,
  activity: ActiveRuns,
  known: { readonly recording?: RecordingFacts | undefined; readonly deferredBy?: Spent | null } = {},
) {
  const { recording, deferredBy = null } = known;
  return {
    id: row.id,
    pluginId: row.install_id,
    pluginVersion: row.plugin_version,
    handler: row.handler,
    handlerKind: row.handler_kind,
    ...showProgress(row, activity.isActive(row.id), deferredBy),
    eventId: row.event_id,
    mode: row.mode,
    attempt: row.attempt,
    depth: row.depth,
    events: JSON.parse(row.events_json),
    calls: JSON.parse(row.calls_json),
    effects: (JSON.parse(row.effects_json) as RunEffect[]).map(showEffect),
    cpuMs: row.cpu_ms,
    memoryBytes: row.memory_bytes,
    wallMs: row.wall_ms,
    queueMs: row.queue_ms,
    logs: JSON.parse(row.logs_json),
    progress: progressOf(row),
    continuedBy: row.continued_by,
    undoneBy: row.undone_by,
    onBehalfOf: inputOf(row)?.caller?.actor ?? null,
    result: row.result_json === null ? null : (JSON.parse(row.result_json) as unknown),
    proposalId: row.proposal_id,
    error: row.error_json === null ? null : showError(JSON.parse(row.error_json) as RunError),
    recording: recording ? showRecording(recording) : null,
    createdAt: isoTime(row.created_at),
    startedAt: isoTime(row.started_at),
    finishedAt: isoTime(row.finished_at),
    leftOut: [] as string[],
  };
}

type RunResponseBody = ReturnType<typeof showRun>;

/** Text written by plugins can hold data from other servers, so it requires an additional scope. */
function toReaderResponse({ scopes }: Context, run: RunResponseBody): RunResponseBody {
  if (scopes.has(textScope)) return run;
  return {
    ...run,
    logs: [],
    result: null,
    leftOut: [textScope],
    effects: run.effects.map((effect) => ({ ...effect, values: null })),
    error: run.error && { ...run.error, message: hiddenText },
  };
}
