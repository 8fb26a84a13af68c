// Works on the gaps of active installs: counts a gap once it is closed, and creates its runs when a backfill is requested.
import { neverMs, type WorkItem, type WorkQueue } from '../../../kernel/events/work/queue.ts';
import { type Scope, backgroundCommitDelayMs } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import { createBackfillCount, type BackfillStep } from './count.ts';
import { createBackfillPages, type BackfillPages } from './pages.ts';
import { findBackfill, advanceBackfillOp, type BackfillRow } from './rows.ts';
import { effectiveMode } from '../installs/mode.ts';
import type { Install } from '../installs/schema.ts';
import type { Planner } from '../planning/planner.ts';
import { abandonedRuns, reviveRunOps } from '../runs/ending/abandoned.ts';

// Creates the runs of a backfill, one page of the event log per batch. Runs and progress commit together, so
// that a crash repeats no page. Given-up runs are requeued before new runs are created.

interface BackfillDeps extends PluginDeps {
  readonly planner: Planner;
  readonly runs: WorkQueue;
  /** Stores the runs of an install that have no row yet, so that their events do not count as missed. */
  storeWork(scope: Scope, installId: string): Promise<void>;
}

/** Returns the step that creates the runs of one page. The step returns true until the gap is done. */
function createBackfillReplay(deps: BackfillDeps, pages: BackfillPages): BackfillStep {
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
    const page = await pages.read(scope, install, backfill, from);
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
  const pages = createBackfillPages(deps, deps.planner);
  const count = createBackfillCount(deps, pages);
  const replay = createBackfillReplay(deps, pages);

  return async (item: WorkItem, queue: WorkQueue): Promise<void> => {
    while (!deps.isStopping()) {
      const backfill = await store.readOne(item.scope, findBackfill, { id: item.id });
      if (!backfill || backfill.status === 'done') return void (await store.commit([queue.finish(item)]));
      await deps.storeWork(item.scope, backfill.install_id);
      const install = await registry.active(item.scope, backfill.install_id);
      // Enabling the install, or a request for a backfill, wakes the gap.
      if (!install || backfill.status === 'off' || backfill.status === 'offered')
        return void (await store.commit([queue.defer(item, neverMs)]));
      const step = backfill.status === 'counting' ? count : replay;
      if (!(await step({ item, queue, backfill, install }))) return;
    }
  };
}
