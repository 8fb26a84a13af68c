// Assembles the background workers of the plugin runtime: the consumer that plans runs, and the queues of runs, schedules, one-time
// jobs and backfills.
import { pluginSettings } from './settings.ts';
import { createConsumer, type Consumer } from '../../kernel/events/consumers/consumer.ts';
import {
  createUnitQueue,
  createWorkQueue,
  type UnitQueue,
  type WorkQueue,
} from '../../kernel/events/work/queue.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import type { Op } from '../../platform/store/store.ts';
import { createBudgetWaits, type BudgetWaits } from './budgets/waits.ts';
import { createBacktests, type Backtests } from './backtests/worker.ts';
import { createCallQueue } from './host-calls/bridge.ts';
import { backfillOps } from './backfill/rows.ts';
import { createBackfillWorker } from './backfill/worker.ts';
import { createDisable, type StateOps } from './installs/disable.ts';
import { consumerName } from './installs/model.ts';
import { oneTimeJobsAfterOps, oneTimeWork } from './schedules/one-time-jobs.ts';
import { createOneTimeWorker, createSchedules, type Schedules } from './schedules/schedules.ts';
import { createOutsides } from './host-calls/fetch.ts';
import { routesAfterOps } from './inbound/rows.ts';
import { createPlanner, runRows, type RunUnit } from './planning/planner.ts';
import { createRecorder } from './recorder/recorder.ts';
import { createRunner, type Runner } from './planning/runner.ts';
import type { AttemptDeps, PluginDeps, RunDeps } from './deps.ts';
import { createRunEnds, type RunEnds } from './inbound/answer.ts';
import { findRun } from './runs/rows.ts';
import { createShadowWork, type ShadowWork } from './shadows/work.ts';
import { createNotifyLoop } from './planning/loops.ts';

/**
 * Limit of runs in memory, with their events. The sandbox decides how many of them run in parallel, and runs
 * one at a time per partition.
 */
const runsInMemory = 512;
/** Limit of backfills that are counted or performed at once. */
const concurrentBackfills = 16;
/** Limit of one-time jobs that are queued at once. */
const concurrentOneTimeJobs = 64;

export interface PluginWorkers {
  readonly runner: Runner;
  readonly ends: RunEnds;
  readonly runs: WorkQueue;
  readonly schedules: Schedules;
  readonly oneTimeJobs: WorkQueue;
  readonly backfills: WorkQueue;
  readonly consumer: Consumer;
  readonly backtests: Backtests;
  readonly shadows: ShadowWork;
  readonly waits: BudgetWaits;
  readonly stateOps: StateOps;
}

export function createWorkers(deps: PluginDeps): PluginWorkers {
  const { clock, registry } = deps;
  const { store, ids, log } = deps.services;
  const stateOps: StateOps = (install, { scope }) => [
    ...oneTimeJobsAfterOps(scope, install),
    ...routesAfterOps(scope, install),
    ...schedules.opsFor(install, { scope }),
    ...backfillOps(backfills, scope, install, { backfillId: ids.next(idPrefixes.gap), nowMs: clock.nowMs() }),
  ];
  const attemptDeps = attemptDepsOf(deps);
  const queueOptions = queueOptionsOf(deps);
  const ends = createRunEnds(clock);
  const waits = createBudgetWaits(deps, () => runs);
  const disable = createDisable(deps, stateOps);
  const ended: RunDeps['ended'] = (run) => shadows.note(run);
  const runner = createRunner({ ...attemptDeps, ends, waits, disable, ended });
  const runs: UnitQueue<RunUnit> = createUnitQueue({
    ...queueOptions,
    kind: 'run',
    capacity: runsInMemory,
    setBack: moveNothingElse,
    perform: runner.perform,
    rows: runRows(store, runner.remember, () => runs),
  });
  const schedules = createSchedules(deps, runs);
  const planner = createPlanner({ ...deps, queue: runs, runner, notifyLoop: createNotifyLoop(deps) });
  const consumer = createConsumer({
    store,
    clock,
    log,
    name: consumerName,
    fresh: deps.fresh,
    queue: runs,
    listens: registry.listens,
    plan: planner.plan,
    isStored: async (scope, id) => (await findRun(store, scope, id)) !== undefined,
  });
  const backfills = createWorkQueue({
    ...queueOptions,
    kind: 'catch-up',
    capacity: concurrentBackfills,
    setBack: moveNothingElse,
    perform: createBackfillWorker({ ...deps, planner, runs, storeWork: consumer.storeWork }),
  });
  const oneTimeJobs = createWorkQueue({
    ...queueOptions,
    kind: oneTimeWork,
    capacity: concurrentOneTimeJobs,
    perform: createOneTimeWorker(deps, runs),
  });
  const backtests = createBacktests({ ...attemptDeps, isBusy: runner.isBusy });
  const shadows: ShadowWork = createShadowWork({ ...deps, engine: backtests.engine });
  const queues = { runs, schedules, oneTimeJobs, backfills };
  return { ...queues, runner, ends, consumer, backtests, shadows, waits, stateOps };
}

/** If the clock is set back, only the due times of the work itself move. */
const moveNothingElse = (): Op[] => [];

function queueOptionsOf({ clock, owner, seen, services: { store, log, mayWork } }: PluginDeps) {
  return { store, clock, log, owner, seen, mayWork };
}

function attemptDepsOf(deps: PluginDeps): AttemptDeps {
  const { egress, services } = deps;
  const { store, sealing, ledger, baseUrl } = services;
  const { nowMs } = deps.clock;
  return {
    ...deps,
    callQueue: createCallQueue({ ledger }),
    recorder: createRecorder({ record: services.settings.of(pluginSettings.recordRuns), nowMs }),
    outside: createOutsides({ store, sealing, nowMs, egress, baseUrl }),
  };
}
