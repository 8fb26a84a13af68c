// Performs runs. The writes of a handler are staged and commit in one batch with the run's record and its work row: a crash before
// the commit leaves a claimable run and no effects, a crash after it leaves a finished run.
import type { EventRow } from '../../../kernel/events/event.ts';
import type { WorkItem, WorkQueue } from '../../../kernel/events/work/queue.ts';
import { runsPerMinuteMax } from '../host-calls/limits.ts';
import { createGate, type GateOptions } from '../budgets/gate.ts';
import type { BudgetWaits } from '../budgets/waits.ts';
import { createRunRate } from './run-rate.ts';
import { createApplyModes, type ApplyModesOptions } from '../modes/apply-modes.ts';
import { createPluginSource } from '../modes/source.ts';
import type { Source } from '../../proposals/again.ts';
import { createAttempts, type AttemptOptions, type LeasedRun } from '../runs/attempt/attempt.ts';
import { createEndAttempt, type EndingOptions } from '../runs/ending/ending.ts';
import type { Install } from '../installs/schema.ts';
import { createLater } from '../runs/ending/later.ts';
import { createPlannedRuns } from '../runs/planned.ts';
import type { RunRow } from '../runs/rows.ts';
import { createTryRun, type TryOptions } from '../runs/attempt/try.ts';
import { createVerdicts, type VerdictOptions } from '../runs/ending/verdict.ts';

/** Limit of immediate repeats of a run whose install or reads changed, or that was interrupted. */
const repeatsMax = 5;

export type RunnerOptions = AttemptOptions &
  EndingOptions &
  Omit<VerdictOptions, 'end' | 'later' | 'applyModes'> &
  ApplyModesOptions &
  GateOptions &
  Pick<TryOptions, 'isStopping'> & {
    readonly random: () => number;
    readonly waits: Pick<BudgetWaits, 'look'>;
  };

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

export function createRunner(options: RunnerOptions): Runner {
  const { store, clock } = options;
  const attempts = createAttempts(options);
  const end = createEndAttempt(options);
  const later = createLater({ ...options, end });
  const verdicts = createVerdicts({ ...options, end, later, applyModes: createApplyModes(options) });
  const tryRun = createTryRun({ ...options, attempts, end, later, verdicts });
  const planned = createPlannedRuns(store);
  /** Runs in progress, bounded by the capacity of their work queue. */
  const active = new Map<string, AbortController>();
  const gate = createGate(options);
  const rate = createRunRate(runsPerMinuteMax, clock.monotonicMs);

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
      // The budget is checked after a deferral as well, because it may have changed before the run was
      // deferred.
      if (ended() || deferredBy) options.waits.look(scope, install.id);
    }
  };

  const perform = async (leased: LeasedRun): Promise<void> => {
    const waitMs = rate.take(leased.run.install_id);
    if (waitMs !== null) return putOff(leased, clock.nowMs() + waitMs);
    const install = await options.registry.active(leased.item.scope, leased.run.install_id);
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
    proposed: createPluginSource({ ...options, attempts }),
    isActive: (runId) => active.has(runId),
    isBusy: () => active.size > 0,
    stopAttempt: (runId) => active.get(runId)?.abort(),
  };
}
