// Performs runs. The writes of a handler are staged and commit in one batch with the run's record and its
// work row: a crash before the commit leaves a claimable run and no effects, a crash after it leaves a
// finished run.
import { sameValue } from '../../../kernel/changes/change.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { plainText } from '../../../platform/lib/text/printable.ts';
import { mayReadEvent, scopeOfEvent } from '../../../kernel/rights/rights.ts';
import { traitsOf, runsPerMinuteMax, createRunRate } from './limits.ts';
import { rightsOfInstall } from '../installs/manifest.ts';
import type { Install } from '../installs/model.ts';
import type { RunDeps } from '../deps.ts';
import { type RunAttempt, type Attempts, type LeasedRun, createAttempts } from '../runs/attempt.ts';
import {
  type EndAttempt,
  createEndAttempt,
  type Later,
  createLater,
  type Verdicts,
  createVerdicts,
} from '../runs/ending.ts';
import { abandonedCode } from '../runs/record.ts';
import { inputNow, type RunInput } from '../runs/job.ts';
import type { WorkItem, WorkQueue } from '../../../kernel/events/work/queue.ts';
import { createGate } from '../budgets/waits.ts';
import { createApplyModes, createPluginSource } from '../trial/proposals.ts';
import type { Source } from '../../proposals/index.ts';
import { type RunRow, findRun } from '../runs/rows.ts';
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

const overtaken = {
  code: 'conflict',
  message:
    'Concurrent changes repeatedly conflicted with the reads or writes of this run. Read and write fewer objects per run.',
};

const callerGone = {
  code: 'unauthorized',
  message:
    'The caller of this run no longer has access: the key expired or was revoked, or the member was removed. Call the action with a valid key.',
};

interface TryDeps extends RunDeps {
  readonly attempts: Attempts;
  readonly end: EndAttempt;
  readonly later: Later;
  readonly verdicts: Verdicts;
}

/** @returns true if the run must be tried again at once; only with `mayRepeat` */
type TryRun = (leased: LeasedRun, mayRepeat: boolean) => Promise<boolean>;

/** Returns a function that makes an attempt, or ends the run and returns null if it must not start. */
function createBegin(deps: TryDeps): (leased: LeasedRun) => Promise<RunAttempt | null> {
  const { registry } = deps;

  /** Returns the present install, or ends the run and returns null if no active install may run it. */
  const findInstall = async (leased: LeasedRun): Promise<Install | null> => {
    const install = await registry.active(leased.item.scope, leased.run.install_id);
    const refusal = refusalOf(install, leased.event);
    if (install && !refusal) return install;
    await deps.end(leased, null, { status: 'dead', attempt: leased.run.attempt, error: refusal });
    return null;
  };

  /** Returns the input with the remaining rights of the caller, or ends the run and returns `ended` if there are none. */
  const findInput = async (leased: LeasedRun): Promise<RunInput | null | 'ended'> => {
    const input = await inputNow(deps.services.store, leased.item.scope, leased.run, deps.clock.nowMs());
    if (input === 'ended')
      await deps.end(leased, null, { status: 'dead', attempt: leased.run.attempt, error: callerGone });
    return input;
  };

  return async (leased) => {
    const install = await findInstall(leased);
    const input = install && (await findInput(leased));
    if (!install || input === 'ended') return null;
    return deps.attempts.make(input ? { ...leased, input } : leased, install);
  };
}

function createTryRun(deps: TryDeps): TryRun {
  const { registry, later, verdicts } = deps;
  const begin = createBegin(deps);

  /**
   * True if code, grant or modes of the plugin changed during the attempt, or the plugin was disabled or
   * removed. The attempt then ran with outdated rights.
   */
  const hasChanged = async ({ item }: LeasedRun, install: Install): Promise<boolean> => {
    const now = await registry.active(item.scope, install.id);
    return (
      now?.sha256 !== install.sha256 ||
      now.mode !== install.mode ||
      now.grant.join() !== install.grant.join() ||
      !sameValue(now.modes, install.modes)
    );
  };

  /**
   * Ends an attempt whose repeats all conflicted with concurrent changes. The run is retried later if its
   * kind of handler allows it.
   */
  const giveWay = async (leased: LeasedRun, tried: RunAttempt): Promise<void> => {
    const { attempt, handler_kind: kind } = leased.run;
    if (traitsOf[kind].isRetried) return later.retry(leased, tried, overtaken);
    await deps.end(leased, tried, { status: 'dead', attempt: attempt + 1, error: overtaken });
  };

  return async (leased, mayRepeat) => {
    const tried = await begin(leased);
    if (!tried) return false;
    if (leased.signal.aborted) {
      leased.queue.drop(leased.item);
      return false;
    }
    if (mayRepeat && (await hasChanged(leased, tried.install))) return true;
    const { outcome } = tried;
    switch (outcome.status) {
      case 'interrupted':
        // When the process stops, the lease of the run expires, and the next process performs the run.
        if (deps.isStopping()) return false;
        if (mayRepeat) return true;
        await later.interrupt(leased, tried, plainText(outcome.message));
        return false;
      case 'succeeded':
        if (await verdicts.succeed(leased, tried, outcome)) return false;
        if (mayRepeat) return true;
        await giveWay(leased, tried);
        return false;
      case 'failed':
        await verdicts.fail(leased, tried, outcome);
        return false;
    }
  };
}

/** Returns why a run must not start; null if it can. */
function refusalOf(install: Install | undefined, event: EventRow | undefined) {
  if (!install)
    return {
      code: abandonedCode,
      message:
        'The plugin was removed, paused or disabled before this run started. Enable or install the plugin, then backfill the missed events.',
    };
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
