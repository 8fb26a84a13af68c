// What works behind the plugin runtime: the consumer that plans runs of events, and the queues of runs, of schedules and of what
// plugins missed.
import type { Committer } from '../changes/commit.ts';
import type { Directory, Services } from '../context.ts';
import { createConsumer, type Consumer } from '../events/consumer.ts';
import type { FreshEvents } from '../events/fresh.ts';
import { createUnitQueue, createWorkQueue, type UnitQueue, type WorkQueue } from '../events/work.ts';
import type { SeenTimes } from '../events/wall-clock.ts';
import type { App } from '../http/app.ts';
import type { Clock } from '../lib/clock.ts';
import { idPrefixes } from '../lib/ids.ts';
import type { Op, Scope } from '../store/store.ts';
import type { FilterFields } from '../lib/filter.ts';
import { createBacktests, type Backtests } from './backtests/runtime.ts';
import { createCallTurns } from './call-turns.ts';
import { gapOps } from './catch-up/rows.ts';
import { createCatchUpWorker } from './catch-up/worker.ts';
import { createDisable, type DisableOptions } from './disable.ts';
import type { FailureWatch } from './failures.ts';
import { consumerName } from './installs/wants.ts';
import { createPlanner } from './planner.ts';
import type { Registry } from './registry.ts';
import { createRunner, type Runner } from './runner.ts';
import type { SandboxOnDemand } from './sandbox-on-demand.ts';
import { findRun } from './runs/rows.ts';
import { runRows, type RunUnit } from './runs/units.ts';
import { createSchedules, type Schedules } from './schedules.ts';

/** Runs in memory, with their events; the sandbox runs one at a time per partition and decides how many at once. */
const runsHeld = 512;
/** Gaps that are counted or caught up at once. */
const catchUpsHeld = 16;

export interface WorkersOptions {
  readonly services: Services;
  readonly clock: Clock;
  readonly random: () => number;
  /** Names this process among others on the same database. */
  readonly owner: string;
  readonly seen: SeenTimes;
  readonly committer: Committer;
  readonly fresh: FreshEvents;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly sandbox: SandboxOnDemand;
  /** The door; known once the app is made of these routes among others. */
  readonly app: () => App;
  readonly registry: Registry;
  readonly failures: FailureWatch;
  /** The process ends: what is left is for the next start. */
  readonly isStopping: () => boolean;
  /** The fields that a subscription to an event type can be filtered by. */
  readonly filterFields: (eventType: string, directory?: Directory) => FilterFields;
}

export interface Workers {
  readonly runner: Runner;
  readonly runs: WorkQueue;
  readonly schedules: Schedules;
  readonly catchUps: WorkQueue;
  readonly consumer: Consumer;
  readonly backtests: Backtests;
  readonly stateOps: DisableOptions['stateOps'];
}

export function createWorkers(options: WorkersOptions): Workers {
  const { clock, owner, seen, registry, isStopping } = options;
  const { store, log, ids, ledger, turns, tally, mayWork } = options.services;
  /** Due times of this work are intervals, but nothing else of it moves when the clock is set back. */
  const queueOptions = { store, clock, log, owner, seen, mayWork, setBack: () => [] };

  const stateOps: Workers['stateOps'] = (install, { scope }): readonly Op[] => [
    ...schedules.opsFor(install, { scope }),
    ...gapOps(catchUps, scope, install, { gapId: ids.next(idPrefixes.gap), nowMs: clock.nowMs() }),
  ];
  const runner = createRunner({
    ...options,
    store,
    log,
    ids,
    ledger,
    tally,
    callTurns: createCallTurns({ ledger }),
    disable: createDisable({ ...options, ids, log, stateOps }),
  });
  const runs: UnitQueue<RunUnit> = createUnitQueue({
    ...queueOptions,
    kind: 'run',
    room: runsHeld,
    perform: runner.perform,
    rows: runRows(store, runner.remember, () => runs),
  });
  const schedules = createSchedules({
    ...{ store, clock, log, ids, owner, seen, mayWork, registry, runs, isStopping },
  });
  const { remember, performPlanned: perform } = runner;
  const planner = createPlanner({ store, clock, registry, turns, queue: runs, perform, remember });
  const consumer = createConsumer({
    ...{ store, clock, name: consumerName, log, fresh: options.fresh, queue: runs },
    listens: registry.listens,
    plan: planner.plan,
    isStored: async (scope, id) => (await findRun(store, scope, id)) !== undefined,
  });
  const catchUps = createWorkQueue({
    ...queueOptions,
    kind: 'catch-up',
    room: catchUpsHeld,
    perform: createCatchUpWorker({
      ...{ ...options, store, ids, planner, runs },
      storeWork: consumer.storeWork,
      stopped: isStopping,
    }),
  });
  const backtests = createBacktests({
    ...{ ...options, store, ledger, callTurns: createCallTurns({ ledger }) },
    isBusy: runner.isBusy,
  });
  return { runner, runs, schedules, catchUps, consumer, backtests, stateOps };
}
