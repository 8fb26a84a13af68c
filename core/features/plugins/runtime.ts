// Assembles the plugin runtime for the server: routes, background workers, start and stop.
import { pluginSettings } from './settings.ts';
import { createConsumer, type Consumer } from '../../kernel/events/consumers/consumer.ts';
import {
  createUnitQueue,
  createWorkQueue,
  type UnitQueue,
  type WorkQueue,
} from '../../kernel/events/work/queue.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import { type Op, scopeOf } from '../../platform/store/store.ts';
import type { DueTimer } from '../../kernel/event-reactions/due-timers.ts';
import { createDueTimer, createWatchTimer, ruleTimerOps } from './rules/timers.ts';
import type { ForgetInMemory } from '../../kernel/table/forget.ts';
import { createBudgetWaits, type BudgetWaits, deferringBudget } from './budgets/waits.ts';
import { createBacktests, type Backtests } from './trial/backtests.ts';
import { createTrialEngine } from './trial/engine.ts';
import { createCallQueue } from './host-calls/bridge.ts';
import { backfillOps, createBackfillWorker } from './backfill/backfill.ts';
import { createDisable, type StateOps, createFailureWatch, checkEngines } from './installs/disable.ts';
import { consumerName, installModel, type Install } from './installs/model.ts';
import { oneTimeJobsAfterOps, oneTimeWork, oneTimeJobModelName } from './schedules/one-time-jobs.ts';
import { createOneTimeWorker, createSchedules, type Schedules } from './schedules/schedules.ts';
import { createOutsides } from './http-out/fetch.ts';
import { routesAfterOps } from './inbound/rows.ts';
import { createPlanner, runRows, type RunUnit } from './planning/planner.ts';
import { createRecorder } from './recorder/recorder.ts';
import { createRunner, type Runner } from './planning/runner.ts';
import type { AttemptDeps, PluginDeps, RunDeps, PluginRuntimeOptions } from './deps.ts';
import { createRunEnds, type RunEnds } from './inbound/answer.ts';
import { findRun } from './runs/rows.ts';
import { createShadowWork, type ShadowWork } from './trial/shadows.ts';
import { createNotifyLoop } from './planning/loops.ts';
import type { Route } from '../../kernel/http/route.ts';
import { automationModel, automationRoutes } from '../automations/index.ts';
import { createRuleRuntime } from './rules/runtime.ts';
import type { Progress } from '../../kernel/events/consumers/consumer-positions.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import type { ScopeRequests } from '../../kernel/rights/rights.ts';
import { unheldNarrowing } from '../../kernel/rights/table.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { budgetRoutes } from './budgets/routes.ts';
import { createUsage } from './budgets/usage.ts';
import { trialRoutes } from './trial/routes.ts';
import { backfillRoutes } from './backfill/routes.ts';
import { inboundRoutes } from './inbound/routes.ts';
import { trustOf } from './installs/versions/check.ts';
import { installRoutes } from './installs/routes.ts';
import { versionRoutes } from './installs/versions/routes.ts';
import type { InstallModes } from './installs/contract.ts';
import { actionRoutes } from './inbound/actions.ts';
import { scheduledRoutes } from './schedules/routes.ts';
import { kvRoutes } from './kv/routes.ts';
import { createReplayRun, recorderRoutes } from './recorder/routes.ts';
import { checkModes, modeFieldsOf } from './trial/modes.ts';
import { sourceOfRequests, proposalRoutes } from '../proposals/index.ts';
import { inboundPerMinuteMax, createRunRate } from './planning/limits.ts';
import { createRegistry } from './installs/registry.ts';
import { runRoutes } from './runs/routes.ts';
import { trailRoute } from './trail/routes.ts';
import { storeChangesOps } from './undo/stored-changes.ts';
import { undoModelsOf } from './undo/models.ts';
import { undoRoutes } from './undo/routes.ts';
import { secretRoutes } from './secrets/routes.ts';

/** Time that runs in progress get when the process stops, in ms. */
const stopGraceMs = 5_000;

const anyInstall = systemStatement<{ id: string }>(
  'plugins.any',
  'the sandbox starts with the process when any workspace has a plugin',
  `SELECT id FROM plugins WHERE deleted_at IS NULL AND state = 'active'
   UNION ALL SELECT id FROM automations WHERE deleted_at IS NULL AND state = 'active' LIMIT 1`,
);

interface PluginRuntime {
  readonly routes: readonly Route[];
  start(): Promise<void>;
  /** Reschedules planned work after the system clock was set. */
  followClock(): Promise<void>;
  settled(): Promise<void>;
  /** Removes stored data of purged issues. */
  readonly forgetIssues: ForgetInMemory;
  readonly timers: readonly DueTimer[];
  /** Returns the progress of the event consumer. */
  progress(): Progress;
  stop(): Promise<void>;
}

export function createPluginRuntime(options: PluginRuntimeOptions): PluginRuntime {
  const { clock, sandbox } = options;
  const { store, log } = options.services;
  const registry = createRegistry(options);
  const failures = createFailureWatch(clock.monotonicMs);
  const usage = createUsage({ store, log, clock });
  let stopping = false;
  const deps: PluginDeps = { ...options, registry, failures, usage, isStopping: () => stopping };
  const workers = createWorkers(deps);
  const { runs, schedules, oneTimeJobs, backfills, consumer, backtests, shadows, waits } = workers;
  const queues = [schedules.queue, oneTimeJobs, backfills, backtests.queue];

  followInstalls(deps, workers);

  return {
    routes: routesOf(deps, workers),
    async start() {
      if ((await store.readSystem(anyInstall)).length > 0) warmUp(deps);
      await checkEngines(deps, workers.stateOps);
      await shadows.start();
      await runs.start();
      await waits.start();
      for (const queue of queues) await queue.start();
      await consumer.start();
      schedules.replan();
    },
    async followClock() {
      await runs.followClock();
      for (const queue of queues) await queue.followClock();
      await schedules.replanned();
    },
    async settled() {
      await consumer.settled();
      await schedules.replanned();
      for (const queue of queues) await queue.settled();
      await waits.settled();
      await runs.settled();
      await Promise.all([backtests.queue.settled(), shadows.settled(), usage.settled()]);
    },
    forgetIssues: shadows.forget,
    timers: [createDueTimer(() => runs), createWatchTimer()],
    progress: consumer.progress,
    async stop() {
      stopping = true;
      await consumer.stop();
      backtests.stop();
      for (const queue of queues) await queue.stop();
      const ended = runs.stop();
      // Runs that are still in progress after the grace period continue on the next start.
      const interrupt = setTimeout(() => void sandbox.stop(), stopGraceMs);
      await ended.finally(() => clearTimeout(interrupt));
      await Promise.all([shadows.end(), usage.stop(), waits.settled()]);
    },
  };
}

/** Updates work and caches of an install after each change of it. */
function followInstalls(
  deps: PluginDeps,
  { shadows, backfills, oneTimeJobs, runs, waits }: PluginWorkers,
): void {
  deps.committer.onCommit((workspaceId, changes) => {
    for (const { kind, id, after } of changes) {
      if (kind === oneTimeJobModelName) oneTimeJobs.wake();
      const isRule = kind === automationModel.name;
      if (kind !== installModel.name && !isRule) continue;
      deps.failures.forget(id);
      if (!isRule) {
        deps.sandbox.evict(id);
        shadows.follow(after as Install);
      }
      for (const queue of [backfills, oneTimeJobs, runs]) queue.wake();
      waits.look(scopeOf(workspaceId), id);
      warmUp(deps);
    }
  });
}

/** Starts the sandbox ahead of the first run, so that the run need not wait. */
function warmUp({ sandbox, services: { log } }: PluginDeps): void {
  sandbox
    .get()
    .catch((error: unknown) => log('error', 'sandbox failed to start', { error: errorForLog(error) }));
}

function routesOf(
  deps: PluginDeps,
  { attemptDeps, runner, ends, runs, consumer, backfills, backtests, shadows, stateOps }: PluginWorkers,
): Route[] {
  const { app, services, clock, registry, committer, usage } = deps;
  const undoModels = undoModelsOf(deps.models, app);
  const sources = { plugin_run: runner.proposed, request: sourceOfRequests(app) };
  const rules = {
    filterFields: deps.filterFields,
    addedFields: deps.addedFields,
    checkFilter: deps.checkFilter,
    serverVersion: deps.serverVersion,
    trust: trustOf(deps.services.settings),
    usage,
    checkModes: (modes: InstallModes) => checkModes(modes, modeFieldsOf(app().routes)),
    unheldNarrowing: (requests: ScopeRequests) => unheldNarrowing(app().routes, requests),
    checkUrl: deps.egress.checkUrl,
    baseUrl: services.baseUrl,
  };
  const actionWork = { app, queue: runs, ends, isActive: runner.isActive, usage };
  const ruleWork = { ...actionWork, backtests, stateOps, storeWork: consumer.storeWork };
  const installRules = { ...rules, codeStored: registry.codeStored, stateOps };
  return [
    ...installRoutes(installRules),
    ...versionRoutes(installRules),
    ...trialRoutes({ ...rules, backtests, shadows, source: registry.source }),
    ...runRoutes(runWorkOf(deps, { runner, ends, runs, consumer })),
    ...recorderRoutes(createReplayRun(deps)),
    ...budgetRoutes(usage),
    ...backfillRoutes(backfills),
    ...actionRoutes(actionWork),
    ...automationRoutes(createRuleRuntime(attemptDeps, ruleWork, rules)),
    ...scheduledRoutes,
    ...undoRoutes(undoModels),
    trailRoute(undoModels),
    ...inboundRoutes({
      services,
      registry,
      queue: runs,
      ends,
      usage,
      rate: createRunRate(inboundPerMinuteMax, clock.monotonicMs),
    }),
    ...kvRoutes,
    ...secretRoutes,
    ...proposalRoutes(app, { committer, sources, storeForUndo: storeChangesOps }),
  ];
}

function runWorkOf(
  { registry, usage }: PluginDeps,
  { runner, ends, runs, consumer }: Pick<PluginWorkers, 'runner' | 'ends' | 'runs' | 'consumer'>,
): Parameters<typeof runRoutes>[0] {
  return {
    queue: runs,
    isActive: runner.isActive,
    async deferredBy(scope, installId) {
      const install = await registry.active(scope, installId);
      return install ? deferringBudget(usage, scope, install) : null;
    },
    stopAttempt(runId) {
      runner.stopAttempt(runId);
      ends.note(runId);
    },
    storeWork: consumer.storeWork,
  };
}

/**
 * Limit of runs in memory, with their events. The sandbox decides how many of them run in parallel, and runs
 * one at a time per partition.
 */
const runsInMemory = 512;
/** Limit of backfills that are counted or performed at once. */
const concurrentBackfills = 16;
/** Limit of one-time jobs that are queued at once. */
const concurrentOneTimeJobs = 64;

interface PluginWorkers {
  readonly attemptDeps: AttemptDeps;
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

/**
 * Assembles the consumer that plans runs, and the queues of runs, schedules, one-time jobs and
 * backfills.
 */
function createWorkers(deps: PluginDeps): PluginWorkers {
  const { clock, registry } = deps;
  const { store, log } = deps.services;
  const stateOps = stateOpsOf(deps, () => ({ schedules, backfills }));
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
    positions: deps.positions,
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
  const trialDeps = { ...attemptDeps, isBusy: runner.isBusy };
  const engine = createTrialEngine(trialDeps);
  const backtests = createBacktests(trialDeps, engine);
  const shadows: ShadowWork = createShadowWork(deps, engine);
  const queues = { runs, schedules, oneTimeJobs, backfills };
  return { ...queues, attemptDeps, runner, ends, consumer, backtests, shadows, waits, stateOps };
}

/** Returns the ops that follow a change of the state of an install. */
function stateOpsOf(
  { clock, services: { ids } }: PluginDeps,
  queues: () => Pick<PluginWorkers, 'schedules' | 'backfills'>,
): StateOps {
  return (install, { scope }) => {
    const { schedules, backfills } = queues();
    const nowMs = clock.nowMs();
    return [
      ...oneTimeJobsAfterOps(scope, install),
      ...routesAfterOps(scope, install),
      ...schedules.opsFor(install, { scope }),
      // Events that happened while an automation did not run are not delivered later.
      ...(install.rule
        ? ruleTimerOps(scope, install.rule, nowMs)
        : backfillOps(backfills, scope, install, { backfillId: ids.next(idPrefixes.gap), nowMs })),
    ];
  };
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
