// Assembles the background workers of the plugin runtime: the consumer that plans runs, and the queues of runs, schedules, one-time
// jobs and backfills.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Directory, Services } from '../../kernel/context.ts';
import { createConsumer, type Consumer } from '../../kernel/events/consumers/consumer.ts';
import type { FreshEvents } from '../../kernel/events/consumers/fresh.ts';
import {
  createUnitQueue,
  createWorkQueue,
  type UnitQueue,
  type WorkQueue,
} from '../../kernel/events/work/queue.ts';
import type { SeenTimes } from '../../kernel/events/wall-clock.ts';
import type { App } from '../../kernel/http/app.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Egress } from '../../platform/lib/egress/egress.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import type { Op, Scope } from '../../platform/store/store.ts';
import type { Usage } from './budgets/usage.ts';
import { createBudgetWaits, type BudgetWaits } from './budgets/waits.ts';
import type { FilterFields } from '../../platform/lib/filter/filter.ts';
import { createBacktests, type Backtests } from './backtests/runtime.ts';
import { createCallQueue } from './host-calls/call-queue.ts';
import { backfillOps } from './backfill/rows.ts';
import { createBackfillWorker } from './backfill/worker.ts';
import { createDisable, type DisableOptions } from './installs/disable.ts';
import type { FailureWatch } from './planning/failures.ts';
import { consumerName } from './installs/versions/subscription.ts';
import { oneTimeJobsAfterOps, oneTimeWork } from './one-time-jobs/entries.ts';
import { createOneTimeWorker } from './one-time-jobs/worker.ts';
import { createOutsides } from './outside/fetch.ts';
import { routesAfterOps } from './inbound/rows.ts';
import { createPlanner } from './planning/planner.ts';
import { createRecorder } from './recorder/recorder.ts';
import type { Registry } from './registry.ts';
import { createRunner, type Runner } from './planning/runner.ts';
import type { SandboxOnDemand } from './sandbox-on-demand.ts';
import { createRunEnds, type RunEnds } from './runs/ending/ends.ts';
import { findRun } from './runs/rows.ts';
import { createShadowWork, type ShadowWork } from './shadows/work.ts';
import { createNotifyLoop } from './planning/notify-loop.ts';
import { runRows, type RunUnit } from './runs/units.ts';
import { createSchedules, type Schedules } from './schedules.ts';

/**
 * Limit of runs in memory, with their events. The sandbox decides how many of them run in parallel, and runs
 * one at a time per partition.
 */
const runsInMemory = 512;
/** Limit of backfills that are counted or performed at once. */
const concurrentBackfills = 16;
/** Limit of one-time jobs that are queued at once. */
const concurrentOneTimeJobs = 64;

export interface PluginWorkersOptions {
  readonly services: Services;
  readonly clock: Clock;
  readonly random: () => number;
  /** Name of this process among those on the same database. */
  readonly owner: string;
  readonly seen: SeenTimes;
  readonly committer: Committer;
  readonly fresh: FreshEvents;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly sandbox: SandboxOnDemand;
  readonly egress: Egress;
  /** Returns the app; available once it is built from these routes. */
  readonly app: () => App;
  readonly registry: Registry;
  readonly failures: FailureWatch;
  readonly record: boolean;
  readonly usage: Usage;
  /** True once the process stops; unfinished work continues after the next start. */
  readonly isStopping: () => boolean;
  /** Returns the fields by which a subscription to an event type can be filtered. */
  readonly filterFields: (eventType: string, directory?: Directory) => FilterFields;
}

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
  readonly stateOps: DisableOptions['stateOps'];
}

export function createWorkers(options: PluginWorkersOptions): PluginWorkers {
  const { clock, owner, seen, registry, isStopping } = options;
  const { store, sealing, log, ids, ledger, fairQueue, outcomeCounter, mayWork, baseUrl } = options.services;
  /** If the clock is set back, only the due times of this work move. */
  const queueOptions = { store, clock, log, owner, seen, mayWork, setBack: () => [] };

  const stateOps: PluginWorkers['stateOps'] = (install, { scope }): readonly Op[] => [
    ...oneTimeJobsAfterOps(scope, install),
    ...routesAfterOps(scope, install),
    ...schedules.opsFor(install, { scope }),
    ...backfillOps(backfills, scope, install, { backfillId: ids.next(idPrefixes.gap), nowMs: clock.nowMs() }),
  ];
  const ends = createRunEnds(clock);
  const attempting = {
    ...{ ...options, store, ledger },
    callQueue: createCallQueue({ ledger }),
    recorder: createRecorder({ record: options.record, nowMs: clock.nowMs }),
    outside: createOutsides({ store, sealing, nowMs: clock.nowMs, egress: options.egress, baseUrl }),
  };
  const waits = createBudgetWaits({ ...options, store, log, queue: () => runs });
  const runner = createRunner({
    ...{ ...attempting, log, ids, sealing, outcomeCounter, ends, waits },
    ended: (ended) => shadows.note(ended),
    disable: createDisable({ ...options, ids, log, stateOps }),
  });
  const runs: UnitQueue<RunUnit> = createUnitQueue({
    ...queueOptions,
    kind: 'run',
    capacity: runsInMemory,
    perform: runner.perform,
    rows: runRows(store, runner.remember, () => runs),
  });
  const schedules = createSchedules({
    ...{ store, clock, log, ids, owner, seen, mayWork, registry, runs, isStopping },
  });
  const { remember, performPlanned: perform } = runner;
  const notifyLoop = createNotifyLoop({ ...options, store, ids, nowMs: clock.nowMs });
  const planner = createPlanner({
    ...{ store, clock, registry, fairQueue, queue: runs, perform, remember, notifyLoop },
  });
  const consumer = createConsumer({
    ...{ store, clock, name: consumerName, log, fresh: options.fresh, queue: runs },
    listens: registry.listens,
    plan: planner.plan,
    isStored: async (scope, id) => (await findRun(store, scope, id)) !== undefined,
  });
  const backfilling = { store, ids, planner, runs, storeWork: consumer.storeWork, stopped: isStopping };
  const backfills = createWorkQueue({
    ...queueOptions,
    kind: 'catch-up',
    capacity: concurrentBackfills,
    perform: createBackfillWorker({ ...options, ...backfilling }),
  });
  const oneTimeJobs = createWorkQueue({
    ...{ store, clock, log, owner, seen, mayWork, kind: oneTimeWork, capacity: concurrentOneTimeJobs },
    perform: createOneTimeWorker({ store, clock, ids, registry, runs }),
  });
  const backtests = createBacktests({ ...attempting, isBusy: runner.isBusy });
  const shadows: ShadowWork = createShadowWork({ ...attempting, engine: backtests.engine });
  const queues = { runs, schedules, oneTimeJobs, backfills };
  return { ...queues, runner, ends, consumer, backtests, shadows, waits, stateOps };
}
