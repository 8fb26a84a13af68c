// Assembles the plugin runtime for the server: routes, background workers, start and stop.
import type { Route } from '../../kernel/http/route.ts';
import type { Progress } from '../../kernel/events/consumers/consumer-positions.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import type { ScopeRequests } from '../../kernel/rights/rights.ts';
import { unheldNarrowing } from '../../kernel/rights/table.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { scopeOf } from '../../platform/store/store.ts';
import type { PluginDeps, PluginRuntimeOptions } from './deps.ts';
import { budgetRoutes } from './budgets/routes.ts';
import { createUsage } from './budgets/usage.ts';
import { deferringBudget } from './budgets/waits.ts';
import { backtestRoutes } from './backtests/routes.ts';
import { backfillRoutes } from './backfill/routes.ts';
import { createFailureWatch, checkEngines } from './installs/disable.ts';
import { inboundRoutes } from './inbound/routes.ts';
import { trustOf } from './installs/versions/trust.ts';
import { installRoutes } from './installs/routes.ts';
import { versionRoutes } from './installs/versions/routes.ts';
import type { InstallModes } from './installs/contract.ts';
import { installModel, type Install } from './installs/model.ts';
import { oneTimeJobModelName } from './schedules/one-time-jobs.ts';
import { actionRoutes } from './inbound/actions.ts';
import { scheduledRoutes } from './schedules/routes.ts';
import { kvRoutes } from './kv/routes.ts';
import { createReplays, recorderRoutes } from './recorder/routes.ts';
import { checkModes, modeFieldsOf } from './modes/mode-fields.ts';
import { sourceOfRequests, proposalRoutes } from '../proposals/index.ts';
import { inboundPerMinuteMax, createRunRate } from './planning/limits.ts';
import { createForgetIssues, type ForgetIssues } from './forget.ts';
import { createRegistry } from './installs/registry.ts';
import { runRoutes } from './runs/routes.ts';
import { trailRoute } from './trail/routes.ts';
import { storeChangesOps } from './undo/stored-changes.ts';
import { undoModelsOf } from './undo/models.ts';
import { undoRoutes } from './undo/routes.ts';
import { secretRoutes } from './secrets/routes.ts';
import { shadowRoutes } from './shadows/routes.ts';
import { createWorkers, type PluginWorkers } from './workers.ts';

/** Time that runs in progress get when the process stops, in ms. */
const stopGraceMs = 5_000;

const anyInstall = systemStatement<{ id: string }>(
  'plugins.any',
  'the sandbox starts with the process when any workspace has a plugin',
  "SELECT id FROM plugins WHERE deleted_at IS NULL AND state = 'active' LIMIT 1",
);

export interface PluginRuntime {
  readonly routes: readonly Route[];
  start(): Promise<void>;
  /** Reschedules planned work after the system clock was set. */
  followClock(): Promise<void>;
  settled(): Promise<void>;
  /** Removes stored data of purged issues. */
  readonly forgetIssues: ForgetIssues;
  /** Returns the progress of the event consumer. */
  progress(): Progress;
  stop(): Promise<void>;
}

export function createPluginRuntime(options: PluginRuntimeOptions): PluginRuntime {
  const { clock, sandbox, cache, filterFields, directoryOf } = options;
  const { store, log } = options.services;
  const registry = createRegistry({ store, cache, log, filterFields, directoryOf });
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
      await consumer.storeMarks();
    },
    forgetIssues: createForgetIssues(store, shadows),
    progress: consumer.progress,
    async stop() {
      stopping = true;
      await consumer.stop();
      backtests.work.stop();
      for (const queue of queues) await queue.stop();
      const ended = runs.stop();
      // Runs that are still in progress after the grace period continue on the next start.
      const interrupt = setTimeout(() => void sandbox.stop(), stopGraceMs);
      await ended.finally(() => clearTimeout(interrupt));
      await Promise.all([shadows.end(), usage.stop(), waits.settled()]);
      await consumer.storeMarks();
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
      if (kind !== installModel.name) continue;
      deps.sandbox.evict(id);
      deps.failures.forget(id);
      shadows.follow(after as Install);
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
  { runner, ends, runs, consumer, backfills, backtests, shadows, stateOps }: PluginWorkers,
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
  const { queue, work } = backtests;
  const installRules = { ...rules, codeStored: registry.codeStored, stateOps };
  return [
    ...installRoutes(installRules),
    ...versionRoutes(installRules),
    ...backtestRoutes({ ...rules, queue, work, source: registry.source }),
    ...shadowRoutes({ ...rules, shadows }),
    ...runRoutes({
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
    }),
    ...recorderRoutes(createReplays(deps)),
    ...budgetRoutes(usage),
    ...backfillRoutes(backfills),
    ...actionRoutes({ app, queue: runs, ends, isActive: runner.isActive, usage }),
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
