// Works on the backfills of active installs: counts a backfill once it is closed, and creates its runs when a backfill
// is requested.
import type { EventRow } from '../../../kernel/events/event.ts';
import { pageAfter } from '../../../kernel/events/log/log.ts';
import { type Scope, backgroundCommitDelayMs } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import type { Install } from '../installs/model.ts';
import type { Planner } from '../planning/planner.ts';
import { metEvents, type BackfillRow, findBackfill, advanceBackfillOp, countedOp } from './rows.ts';
import { neverMs, type WorkItem, type WorkQueue } from '../../../kernel/events/work/queue.ts';
import { effectiveMode } from '../installs/mode.ts';
import { abandonedRuns, reviveRunOps, countAbandoned } from '../runs/record.ts';
import { systemAuthor } from '../../../kernel/changes/commit.ts';
import { itemsForAdmins } from '../../inbox/index.ts';

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
    const ops = abandoned.flatMap((run) => reviveRunOps(runs, scope, run, how));
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
      const backfill = await findBackfill.one(store, item.scope, { id: item.id });
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
    const isNotified = waiting > 0 && backfill.cause === 'system';
    const committed = await deps.committer.commit(
      author,
      isNotified ? itemsForAdmins(missedNote(install, waiting), { ids, nowMs, directory }) : [],
      [rest, countedOp(scope, backfill.id, missed, waiting === 0 ? nowMs : null)],
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
