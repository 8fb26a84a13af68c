// Backfills: ranges of the event log that an install missed while disabled. A backfill opens in the batch that disables the
// install and closes in the batch that enables it. Both limits are sequences, so each event is either planned on arrival or in exactly
// one backfill. A worker counts closed backfills of active installs, and creates their runs once requested.
import { systemAuthor } from '../../../kernel/changes/commit.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { pageAfter } from '../../../kernel/events/log/log.ts';
import { neverMs, type WorkItem, type WorkQueue } from '../../../kernel/events/work/queue.ts';
import type { RowOf } from '../../../kernel/table/define.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { backgroundCommitDelayMs, tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import { itemsForAdmins } from '../../inbox/index.ts';
import type { PluginDeps } from '../deps.ts';
import { effectiveMode } from '../installs/mode.ts';
import type { Install } from '../installs/model.ts';
import type { Planner } from '../planning/planner.ts';
import { abandonedRuns, countAbandoned } from '../runs/rows.ts';
import { requeueRunOps } from '../runs/state.ts';
import { pluginBackfillTable } from '../tables.ts';

export type BackfillRow = RowOf<typeof pluginBackfillTable>;

const lastEvent = '(SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws)';
const isOff = `(SELECT 1 FROM plugin_backfills WHERE workspace_id = :ws AND install_id = :installId AND status = 'off')`;

const find = pluginBackfillTable.selectAll('find', ['id']);
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
const metEvents = tenantStatement<{ event_id: string }>(
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

interface BackfillAdvance {
  readonly from: number;
  readonly to: number;
  /** Number of runs created in this step. */
  readonly made: number;
  readonly status: 'running' | 'done';
  readonly finishedAt: number | null;
}

function advanceBackfillOp(scope: Scope, id: string, to: BackfillAdvance): Op {
  return tenantOp(scope, move, { id, ...to }, { expectRows: 1 });
}

interface BackfillDeps extends PluginDeps {
  readonly planner: Planner;
  readonly runs: WorkQueue;
  /** Stores the runs of an install that have no row yet, so that their events do not count as missed. */
  storeWork(scope: Scope, installId: string): Promise<void>;
}

/** Returns the step that creates the runs of one page. The step returns true until the backfill is done. */
function createBackfillReplay(deps: BackfillDeps): BackfillStep {
  const { clock, planner, runs } = deps;
  const { store } = deps.services;
  const delayed = { commitDelayMs: backgroundCommitDelayMs };

  /** Requeues one page of given-up runs. Returns false if there are none. */
  const revive = async (scope: Scope, backfill: BackfillRow, install: Install): Promise<boolean> => {
    const abandoned = await store.read(scope, abandonedRuns, { installId: install.id });
    if (abandoned.length === 0) return false;
    const from = backfill.after_sequence;
    const moved = { from, to: from, made: abandoned.length, status: 'running' as const, finishedAt: null };
    const how = { mode: effectiveMode(install), nowMs: clock.nowMs(), leases: runs.draft() };
    const ops = abandoned.flatMap((run) => requeueRunOps(runs, scope, run, how));
    await store.commit([advanceBackfillOp(scope, backfill.id, moved), ...ops], delayed);
    return true;
  };

  return async ({ item, queue, backfill, install }) => {
    const { scope } = item;
    if (await revive(scope, backfill, install)) return true;
    const from = backfill.after_sequence;
    const page = await readPage(deps, scope, install, backfill, from);
    if (!page) return true;
    const queued = await planner.runsFor(scope, install.id, page.events);
    const moved = {
      from,
      to: page.to,
      made: page.events.length,
      status: page.ends ? ('done' as const) : ('running' as const),
      finishedAt: page.ends ? clock.nowMs() : null,
    };
    const outcome = await store.commit(
      [advanceBackfillOp(scope, backfill.id, moved), ...(page.ends ? [queue.finish(item)] : []), ...queued],
      delayed,
    );
    return !(outcome.ok && page.ends);
  };
}

export function createBackfillWorker(deps: BackfillDeps) {
  const { registry } = deps;
  const { store } = deps.services;
  const count = createBackfillCount(deps);
  const replay = createBackfillReplay(deps);

  return async (item: WorkItem, queue: WorkQueue): Promise<void> => {
    while (!deps.isStopping()) {
      const backfill = await find.one(store, item.scope, { id: item.id });
      if (!backfill || backfill.status === 'done') return void (await store.commit([queue.finish(item)]));
      await deps.storeWork(item.scope, backfill.install_id);
      const install = await registry.active(item.scope, backfill.install_id);
      // Enabling the install, or a request for a backfill, wakes the backfill.
      if (!install || backfill.status === 'off' || backfill.status === 'offered')
        return void (await store.commit([queue.defer(item, neverMs)]));
      const step = backfill.status === 'counting' ? count : replay;
      if (!(await step({ item, queue, backfill, install }))) return;
    }
  };
}

/**
 * Returns the counting step. The step requests another one by returning true if the install changed, or a
 * backfill was requested, during the count.
 */
function createBackfillCount(deps: BackfillDeps): BackfillStep {
  const { clock } = deps;
  const { store, ids } = deps.services;

  /** Returns the number of missed events, or why the count was interrupted. */
  const missedIn = async (
    scope: Scope,
    install: Install,
    backfill: BackfillRow,
  ): Promise<number | 'stopped' | 'changed'> => {
    let missed = 0;
    for (let after = backfill.after_sequence, ends = false; !ends;) {
      if (deps.isStopping()) return 'stopped';
      const page = await readPage(deps, scope, install, backfill, after);
      if (!page) return 'changed';
      missed += page.events.length;
      after = page.to;
      ends = page.ends;
    }
    return missed;
  };

  return async ({ item, queue, backfill, install }) => {
    const { scope } = item;
    const missed = await missedIn(scope, install, backfill);
    if (typeof missed === 'string') return missed === 'changed';
    const nowMs = clock.nowMs();
    const waiting = missed + (await countAbandoned(store, scope, install.id));
    const directory = await deps.directoryOf(scope);
    const author = systemAuthor(scope, 'sandbox', directory);
    const rest = waiting === 0 ? queue.finish(item) : queue.defer(item, neverMs);
    // Given-up runs are counted on each request.
    const row =
      waiting === 0
        ? { id: backfill.id, missed, status: 'done' as const, finished_at: nowMs }
        : { id: backfill.id, missed, status: 'offered' as const, finished_at: null };
    const isNotified = waiting > 0 && backfill.cause === 'system';
    const committed = await deps.committer.commit(
      author,
      isNotified ? itemsForAdmins(missedNote(install, waiting), { ids, nowMs, directory }) : [],
      [rest, counted(scope, row, { expectRows: 1 })],
      [],
      { commitDelayMs: backgroundCommitDelayMs },
    );
    return !committed.ok && committed.op > 0;
  };
}

function missedNote(install: Install, waiting: number) {
  return {
    kind: 'plugin_missed_events' as const,
    reason: 'plugin' as const,
    title: `The plugin ${install.manifest.name ?? install.pluginId} missed ${waiting} events while disabled`,
    body: `The plugin is enabled again. Missed events are not run automatically. To backfill them, send POST /api/v1/plugins/${install.id}/catch-up.`,
    target: { kind: 'plugin', id: install.id },
  };
}

/** Gap of an active install, leased by its worker. */
interface LeasedBackfill {
  readonly item: WorkItem;
  readonly queue: WorkQueue;
  readonly backfill: BackfillRow;
  readonly install: Install;
}

/** @returns true if another step can follow at once */
type BackfillStep = (leased: LeasedBackfill) => Promise<boolean>;

const pageEvents = 200;

interface BackfillPage {
  readonly events: readonly EventRow[];
  /** Sequence of the last event read. */
  readonly to: number;
  /** True for the last page of the backfill. */
  readonly ends: boolean;
}

/**
 * Reads a page of a gap: the events that the install subscribes to and that have no run of the install.
 * @returns null if the install changed during the read, because the page may mix subscriptions of both versions
 */
async function readPage(
  { registry, planner, services: { store } }: BackfillDeps,
  scope: Scope,
  install: Install,
  { until_sequence, install_id: installId }: BackfillRow,
  after: number,
): Promise<BackfillPage | null> {
  const until = until_sequence ?? after;
  const page = await pageAfter(store, scope, after, { limit: pageEvents });
  const events = page.events.filter(({ sequence }) => sequence <= until);
  const wanted = await planner.wanted(scope, installId, events);
  const roots = JSON.stringify(wanted.map(({ id, cause }) => cause.rootEventId ?? id));
  const rows = wanted.length === 0 ? [] : await store.read(scope, metEvents, { roots, installId });
  if ((await registry.active(scope, install.id))?.version !== install.version) return null;
  const met = new Set(rows.map((row) => row.event_id));
  return {
    events: wanted.filter(({ id }) => !met.has(id)),
    to: events.at(-1)?.sequence ?? after,
    ends: !page.more || page.through >= until,
  };
}
