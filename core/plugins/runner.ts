// Performs runs: the handler's writes are staged while it runs and commit together with the run's record and its work row,
// in one batch. A crash before leaves a claimable run and nothing else; a crash after finds it done.
import type { EventRow } from '../events/event.ts';
import type { WorkItem, WorkQueue } from '../events/work.ts';
import { runsPerMinuteMax } from './limits.ts';
import { createGate, type GateOptions } from './budgets/gate.ts';
import type { BudgetWaits } from './budgets/waits.ts';
import { createRunRate } from './run-rate.ts';
import { createHoldBack, type HoldBackOptions } from './proposals/hold-back.ts';
import { createPluginSource } from './proposals/source.ts';
import type { Source } from '../proposals/again.ts';
import { createAttempts, type AttemptOptions, type HeldRun } from './runs/attempt.ts';
import { createEndAttempt, type EndingOptions } from './runs/ending.ts';
import type { Install } from './installs/schema.ts';
import { createLater } from './runs/later.ts';
import { createPlannedRuns } from './runs/planned.ts';
import type { RunRow } from './runs/rows.ts';
import { createTryRun, type TryOptions } from './runs/try.ts';
import { createVerdicts, type VerdictOptions } from './runs/verdict.ts';

/** A run is repeated at once this often when what it read changed under it, or when another's fault interrupted it. */
const repeatsMax = 5;

export type RunnerOptions = AttemptOptions &
  EndingOptions &
  Omit<VerdictOptions, 'end' | 'later' | 'holdBack'> &
  HoldBackOptions &
  GateOptions &
  Pick<TryOptions, 'isStopping'> & {
    readonly random: () => number;
    readonly waits: Pick<BudgetWaits, 'look'>;
  };

export interface Runner {
  /** A run that has its row. */
  perform(item: WorkItem, queue: WorkQueue): Promise<void>;
  /** A run that has none as yet. */
  performPlanned(item: WorkItem, run: RunRow, event: EventRow, queue: WorkQueue): Promise<void>;
  /** Keeps a run and its event for the first attempt. */
  remember(run: RunRow, event: EventRow): void;
  isActive(runId: string): boolean;
  /** Whether any is under way. */
  isBusy(): boolean;
  /** Of a run that was canceled: its attempt is stopped, and none is made any more. */
  stopAttempt(runId: string): void;
  /** Asks again what plugins proposed. */
  readonly proposed: Source;
}

export function createRunner(options: RunnerOptions): Runner {
  const { store, clock } = options;
  const attempts = createAttempts(options);
  const end = createEndAttempt(options);
  const later = createLater({ ...options, end });
  const verdicts = createVerdicts({ ...options, end, later, holdBack: createHoldBack(options) });
  const tryRun = createTryRun({ ...options, attempts, end, later, verdicts });
  const planned = createPlannedRuns(store);
  /** Runs under way; the room of their work queue bounds how many there are. */
  const active = new Map<string, AbortController>();
  const gate = createGate(options);
  const rate = createRunRate(runsPerMinuteMax, clock.monotonicMs);

  const putOff = async ({ item, queue }: HeldRun, startAtMs: number): Promise<void> => {
    const { ok } = await queue.whileSealed(item, () => store.commit(queue.putOff(item, startAtMs)));
    return ok ? queue.wake() : queue.drop(item);
  };

  const tryUntilEnded = async (held: HeldRun): Promise<void> => {
    for (let repeats = 0; await tryRun(held, repeats < repeatsMax); repeats++);
  };

  /** Where the budget of its install has no room for a run, it waits. */
  const withinBudget = async (held: HeldRun, install: Install): Promise<void> => {
    const { scope } = held.item;
    const { heldUpBy, spent, end: ended } = await gate(scope, install);
    try {
      if (heldUpBy) await putOff(held, heldUpBy.untilMs);
      else await tryUntilEnded({ ...held, isSpent: spent !== null });
    } finally {
      // Or the budget was changed before the run was put off.
      if (ended() || heldUpBy) options.waits.look(scope, install.id);
    }
  };

  const perform = async (held: HeldRun): Promise<void> => {
    const waitMs = rate.take(held.run.install_id);
    if (waitMs !== null) return putOff(held, clock.nowMs() + waitMs);
    const install = await options.registry.active(held.item.scope, held.run.install_id);
    await (install ? withinBudget(held, install) : tryUntilEnded(held));
  };

  /** Says for so long that the run is under way. */
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
        const found = await planned.find(item);
        await (found ? perform({ item, queue, ...found, signal }) : store.commit([queue.finish(item)]));
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
