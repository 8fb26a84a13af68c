// Performs runs. The writes of a handler are staged and commit in one batch with the run's record and its work row: a crash before
// the commit leaves a claimable run and no effects, a crash after it leaves a finished run.
import type { EventRow } from '../../../kernel/events/event.ts';
import type { WorkItem, WorkQueue } from '../../../kernel/events/work/queue.ts';
import { runsPerMinuteMax } from '../host-calls/limits.ts';
import { createGate } from '../budgets/gate.ts';
import type { RunDeps } from '../deps.ts';
import { createRunRate } from './run-rate.ts';
import { createApplyModes } from '../modes/apply-modes.ts';
import { createPluginSource } from '../modes/source.ts';
import type { Source } from '../../proposals/index.ts';
import { createAttempts, type LeasedRun } from '../runs/attempt/attempt.ts';
import { createEndAttempt } from '../runs/ending/ending.ts';
import type { Install } from '../installs/schema.ts';
import { createLater } from '../runs/ending/later.ts';
import { type RunRow, findRun } from '../runs/rows.ts';
import { createTryRun } from '../runs/attempt/try.ts';
import { createVerdicts } from '../runs/ending/verdict.ts';
import { LRUCache } from 'lru-cache';
import { findEvent } from '../../../kernel/events/log/log.ts';
import type { Store } from '../../../platform/store/store.ts';

/** Limit of immediate repeats of a run whose install or reads changed, or that was interrupted. */
const repeatsMax = 5;

export interface Runner {
  /** Performs a stored run. */
  perform(item: WorkItem, queue: WorkQueue): Promise<void>;
  /** Performs a run that has no row yet. */
  performPlanned(item: WorkItem, run: RunRow, event: EventRow, queue: WorkQueue): Promise<void>;
  /** Caches a run and its event for the first attempt. */
  remember(run: RunRow, event: EventRow): void;
  isActive(runId: string): boolean;
  /** True if any run is in progress. */
  isBusy(): boolean;
  /** Aborts the attempt of a canceled run; no further attempt is made. */
  stopAttempt(runId: string): void;
  /** Rebuilds the changes of proposals made by plugins. */
  readonly proposed: Source;
}

export function createRunner(deps: RunDeps): Runner {
  const { store } = deps.services;
  const attempts = createAttempts(deps);
  const end = createEndAttempt(deps);
  const later = createLater(deps, end);
  const verdicts = createVerdicts({ ...deps, end, later, applyModes: createApplyModes(deps) });
  const tryRun = createTryRun({ ...deps, attempts, end, later, verdicts });
  const planned = createPlannedRuns(store);
  /** Runs in progress, bounded by the capacity of their work queue. */
  const active = new Map<string, AbortController>();
  const gate = createGate(deps);
  const rate = createRunRate(runsPerMinuteMax, deps.clock.monotonicMs);

  const putOff = async ({ item, queue }: LeasedRun, startAtMs: number): Promise<void> => {
    const { ok } = await queue.whileSealed(item, () => store.commit(queue.putOff(item, startAtMs)));
    return ok ? queue.wake() : queue.drop(item);
  };

  const tryUntilEnded = async (leased: LeasedRun): Promise<void> => {
    for (let repeats = 0; await tryRun(leased, repeats < repeatsMax); repeats++);
  };

  /** Performs the run, or defers it if the budget of its install is exhausted. */
  const withinBudget = async (leased: LeasedRun, install: Install): Promise<void> => {
    const { scope } = leased.item;
    const { deferredBy, spent, end: ended } = await gate(scope, install);
    try {
      if (deferredBy) await putOff(leased, deferredBy.untilMs);
      else await tryUntilEnded({ ...leased, isSpent: spent !== null });
    } finally {
      // A deferral is checked as well, because the budget may have changed before it.
      if (ended() || deferredBy) deps.waits.look(scope, install.id);
    }
  };

  const perform = async (leased: LeasedRun): Promise<void> => {
    const waitMs = rate.take(leased.run.install_id);
    if (waitMs !== null) return putOff(leased, deps.clock.nowMs() + waitMs);
    const install = await deps.registry.active(leased.item.scope, leased.run.install_id);
    await (install ? withinBudget(leased, install) : tryUntilEnded(leased));
  };

  /** Marks the run as active for the duration of `work`. */
  const whileActive = async (id: string, work: (signal: AbortSignal) => Promise<unknown>): Promise<void> => {
    const controller = new AbortController();
    active.set(id, controller);
    try {
      await work(controller.signal);
    } finally {
      active.delete(id);
      attempts.forget(id);
    }
  };

  return {
    perform: (item, queue) =>
      whileActive(item.id, async (signal) => {
        const plannedRun = await planned.find(item);
        if (plannedRun) await perform({ item, queue, ...plannedRun, signal });
        else await store.commit([queue.finish(item)]);
      }),
    performPlanned: (item, run, event, queue) =>
      whileActive(item.id, (signal) => perform({ item, queue, run, event, signal })),
    remember: planned.remember,
    proposed: createPluginSource(deps, attempts),
    isActive: (runId) => active.has(runId),
    isBusy: () => active.size > 0,
    stopAttempt: (runId) => active.get(runId)?.abort(),
  };
}

// Finds the run of a work item and its event. Recently planned runs are cached, so that their first attempt
// needs no read.

/** Limit of cached events, in characters. */
const charsMax = 32 * 1024 * 1024;

interface Planned {
  readonly run: RunRow;
  /** Undefined if no event triggered the run. */
  readonly event: EventRow | undefined;
}

interface PlannedRuns {
  remember(run: RunRow, event: EventRow): void;
  /** Returns undefined if there is no such run. Removes the run from the cache, because a later attempt must read the stored row. */
  find(item: WorkItem): Promise<Planned | undefined>;
}

function createPlannedRuns(store: Store): PlannedRuns {
  const planned = new LRUCache<string, Planned & { readonly event: EventRow }>({
    maxSize: charsMax,
    sizeCalculation: ({ event }) => charsOf(event),
  });
  return {
    remember: (run, event) => void planned.set(run.id, { run, event }),
    async find({ id, scope }) {
      const known = planned.get(id);
      planned.delete(id);
      if (known) return known;
      const run = await findRun(store, scope, id);
      if (!run) return undefined;
      return { run, event: run.event_id === null ? undefined : await findEvent(store, scope, run.event_id) };
    },
  };
}

/** Estimates the size of an event; only its texts can be long. */
function charsOf({ data }: EventRow): number {
  let chars = 1_000;
  for (const value of Object.values(data)) if (typeof value === 'string') chars += value.length;
  return chars;
}
