// Performs runs. The writes of a handler are staged and commit in one batch with the run's record and its
// work row: a crash before the commit leaves a claimable run and no effects, a crash after it leaves a
// finished run.
import { sameValue } from '../../../kernel/changes/change.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { findEvent } from '../../../kernel/events/log/log.ts';
import type { WorkItem, WorkQueue } from '../../../kernel/events/work/queue.ts';
import { mayReadEvent, scopeOfEvent } from '../../../kernel/rights/rights.ts';
import { plainText } from '../../../platform/lib/text/printable.ts';
import type { CommitOutcome, Op, Store } from '../../../platform/store/store.ts';
import type { Source } from '../../proposals/index.ts';
import { createGate } from '../budgets/waits.ts';
import type { RunDeps } from '../deps.ts';
import { rightsOfInstall } from '../installs/manifest.ts';
import type { Install } from '../installs/model.ts';
import { createApplyModes, createPluginSource } from '../trial/proposals.ts';
import { createAttempts, type Attempts, type LeasedRun, type RunAttempt } from '../runs/attempt.ts';
import {
  endCompleted,
  endFailed,
  endInterrupted,
  endOvertaken,
  endUntried,
  type EndDeps,
} from '../runs/ending.ts';
import { inputNow, type Authorization } from '../runs/job.ts';
import { abandonedCode, findRun, type RunRow } from '../runs/rows.ts';
import { waitOp } from '../runs/state.ts';
import { createRunRate, runsPerMinuteMax } from './limits.ts';
import { LRUCache } from 'lru-cache';

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
  const trying: TryDeps = { ...deps, attempts, applyModes: createApplyModes(deps) };
  const planned = createPlannedRuns(store);
  /** Runs in progress, bounded by the capacity of their work queue. */
  const active = new Map<string, AbortController>();
  const gate = createGate(deps);
  const rate = createRunRate(runsPerMinuteMax, deps.clock.monotonicMs);

  const tryUntilEnded = async (leased: LeasedRun): Promise<void> => {
    for (let repeats = 0; await tryRun(trying, leased, repeats < repeatsMax); repeats++);
  };

  /** Performs the run, or defers it if the budget of its install is exhausted. */
  const withinBudget = async (leased: LeasedRun, install: Install): Promise<void> => {
    const { scope, id } = leased.item;
    const { deferredBy, spent, end: ended } = await gate(scope, install);
    try {
      if (deferredBy) await putOff(store, leased, deferredBy.untilMs, [waitOp(scope, id)]);
      else await tryUntilEnded({ ...leased, isSpent: spent !== null });
    } finally {
      // A deferral is checked as well, because the budget may have changed before it.
      if (ended() || deferredBy) deps.waits.look(scope, install.id);
    }
  };

  const perform = async (leased: LeasedRun): Promise<void> => {
    const waitMs = rate.take(leased.run.install_id);
    if (waitMs !== null) return putOff(store, leased, deps.clock.nowMs() + waitMs, []);
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

/** Defers a run that has not started. @param more ops that follow the deferral */
async function putOff(
  store: Store,
  { item, queue }: LeasedRun,
  startAtMs: number,
  more: readonly Op[],
): Promise<void> {
  const deferred = (): Promise<CommitOutcome> => store.commit([...queue.putOff(item, startAtMs), ...more]);
  const { ok } = await queue.whileSealed(item, deferred);
  return ok ? queue.wake() : queue.drop(item);
}

const callerGone = {
  code: 'unauthorized',
  message:
    'The caller of this run no longer has access: the key expired or was revoked, or the member was removed. Call the action with a valid key.',
};

interface TryDeps extends EndDeps {
  readonly attempts: Attempts;
}

/** Makes an attempt, or ends the run and returns null if it must not start. */
async function begin(deps: TryDeps, leased: LeasedRun): Promise<RunAttempt | null> {
  const { run, event, item } = leased;
  const install = await deps.registry.active(item.scope, run.install_id);
  if (!install) {
    await endUntried(deps, leased, 'canceled', inactive);
    return null;
  }
  const refusal = refusalOf(install, event);
  if (refusal) {
    await endUntried(deps, leased, 'dead', refusal);
    return null;
  }
  const at = { install, nowMs: deps.clock.nowMs() };
  const input = await inputNow(deps.services.store, item.scope, run, at);
  if (input && 'refused' in input) {
    await endUnauthorized(deps, leased, install, input.refused);
    return null;
  }
  return deps.attempts.make(input ? { ...leased, input } : leased, install);
}

/** Ends a run whose caller lost the rights, or suspends the automation whose owner lost them. */
async function endUnauthorized(
  deps: TryDeps,
  leased: LeasedRun,
  install: Install,
  refused: Authorization,
): Promise<void> {
  if (refused === 'caller_gone') return endUntried(deps, leased, 'dead', callerGone);
  const reason = refused.ownerLost;
  await endUntried(deps, leased, 'dead', { code: 'insufficient_scope', message: reason });
  await deps.disable(leased.item.scope, install, { state: 'suspended', reason });
}

/**
 * True if code, grant or modes of the plugin changed during the attempt, or the plugin was disabled or
 * removed. The attempt then ran with outdated rights.
 */
async function hasChanged({ registry }: TryDeps, { item }: LeasedRun, install: Install): Promise<boolean> {
  const now = await registry.active(item.scope, install.id);
  return (
    now?.sha256 !== install.sha256 ||
    now.pluginVersion !== install.pluginVersion ||
    now.mode !== install.mode ||
    now.grant.join() !== install.grant.join() ||
    !sameValue(now.modes, install.modes)
  );
}

/** @returns true if the run must be tried again at once; only with `mayRepeat` */
async function tryRun(deps: TryDeps, leased: LeasedRun, mayRepeat: boolean): Promise<boolean> {
  const tried = await begin(deps, leased);
  if (!tried) return false;
  if (leased.signal.aborted) {
    leased.queue.drop(leased.item);
    return false;
  }
  if (mayRepeat && (await hasChanged(deps, leased, tried.install))) return true;
  const { outcome } = tried;
  switch (outcome.status) {
    case 'interrupted':
      // When the process stops, the lease of the run expires, and the next process performs the run.
      if (deps.isStopping()) return false;
      if (mayRepeat) return true;
      await endInterrupted(deps, leased, tried, plainText(outcome.message));
      return false;
    case 'succeeded':
      if (await endCompleted(deps, leased, tried, outcome)) return false;
      if (mayRepeat) return true;
      await endOvertaken(deps, leased, tried);
      return false;
    case 'failed':
      await endFailed(deps, leased, tried, outcome);
      return false;
  }
}

const inactive = {
  code: abandonedCode,
  message:
    'The plugin was removed, paused or disabled before this run started. Enable or install the plugin, then backfill the missed events.',
};

/** Returns why the plugin may not handle the event; null if it may. */
function refusalOf(install: Install, event: EventRow | undefined) {
  if (event && !mayReadEvent(rightsOfInstall(install), event))
    return {
      code: 'insufficient_scope',
      message: `The plugin no longer has the scope ${scopeOfEvent(event.type)} for this ${event.type} event. Grant the scope to receive such events.`,
    };
  return null;
}

/** Limit of cached events, in characters. */
const charsMax = 32 * 1024 * 1024;

interface Planned {
  readonly run: RunRow;
  /** Undefined if no event triggered the run. */
  readonly event: EventRow | undefined;
}

/**
 * Finds the run of a work item and its event. Recently planned runs are cached, so that their first
 * attempt needs no read.
 */
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
