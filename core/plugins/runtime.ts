// The plugin runtime as the server starts, asks and stops it: its routes, and what works behind them.
import type { WorkspaceCache } from '../changes/workspace-cache.ts';
import type { Route } from '../http/route.ts';
import type { Progress } from '../events/progress.ts';
import { errorForLog } from '../lib/failures.ts';
import type { CheckFilter } from '../resource/filtering.ts';
import type { ScopeRequests } from '../rights/rights.ts';
import { unheldNarrowing } from '../rights/table.ts';
import { systemStatement } from '../store/statement.ts';
import { backtestRoutes } from './backtests/routes.ts';
import { catchUpRoutes } from './catch-up/routes.ts';
import { createFailureWatch } from './failures.ts';
import { installRoutes } from './installs/routes.ts';
import { installKind } from './installs/schema.ts';
import { tellUnheard } from './installs/unheard.ts';
import { kvRoutes } from './kv/routes.ts';
import { createRegistry, type Registry } from './registry.ts';
import { runRoutes } from './runs/routes.ts';
import { createWorkers, type Workers, type WorkersOptions } from './workers.ts';

/** Runs under way get this long when the process is asked to stop. */
const stopGraceMs = 5_000;

const anyInstall = systemStatement<{ id: string }>(
  'plugins.any',
  'the sandbox starts with the process when any workspace has a plugin',
  "SELECT id FROM plugins WHERE deleted_at IS NULL AND state = 'active' LIMIT 1",
);

export interface PluginRuntime {
  readonly routes: readonly Route[];
  start(): Promise<void>;
  /** Has what is planned follow the clock, which was set. */
  followClock(): Promise<void>;
  settled(): Promise<void>;
  /** Of its consumer. */
  progress(): Progress;
  stop(): Promise<void>;
}

export interface PluginRuntimeOptions extends Omit<WorkersOptions, 'registry' | 'failures' | 'isStopping'> {
  readonly cache: WorkspaceCache;
  readonly addedFields: (eventType: string) => string | null;
  readonly checkFilter: CheckFilter;
  /** Semantic version of this server. */
  readonly serverVersion: string;
}

export function createPluginRuntime(options: PluginRuntimeOptions): PluginRuntime {
  const { clock, committer, sandbox, cache, filterFields, directoryOf } = options;
  const { store, log, ids } = options.services;
  const registry = createRegistry({ store, cache, log, filterFields, directoryOf });
  const failures = createFailureWatch(clock.monotonicMs);
  let stopping = false;
  const workers = createWorkers({ ...options, registry, failures, isStopping: () => stopping });
  const { runs, schedules, catchUps, consumer, backtests } = workers;

  /** Ahead of the first run, so that it need not wait for the start. */
  const warm = (): void => {
    sandbox
      .get()
      .catch((error: unknown) => log('error', 'the sandbox did not start', { error: errorForLog(error) }));
  };

  const installChanged = (installId: string): void => {
    sandbox.evict(installId);
    failures.forget(installId);
    for (const queue of [catchUps, runs]) queue.wake();
    warm();
  };
  committer.onCommit((_, changes) => {
    for (const { kind, id } of changes) if (kind === installKind.name) installChanged(id);
  });

  return {
    routes: routesOf(options, registry, workers),
    async start() {
      if ((await store.readSystem(anyInstall)).length > 0) warm();
      await tellUnheard({ store, committer, ids, directoryOf: options.directoryOf, nowMs: clock.nowMs });
      for (const queue of [runs, schedules.queue, catchUps, backtests.queue]) await queue.start();
      await consumer.start();
      schedules.replan();
    },
    async followClock() {
      for (const queue of [runs, catchUps, backtests.queue, schedules.queue]) await queue.followClock();
      await schedules.replanned();
    },
    async settled() {
      await consumer.settled();
      await schedules.replanned();
      await schedules.queue.settled();
      await catchUps.settled();
      await runs.settled();
      await backtests.queue.settled();
      await consumer.storeMarks();
    },
    progress: workers.consumer.progress,
    async stop() {
      stopping = true;
      await consumer.stop();
      await schedules.queue.stop();
      await catchUps.stop();
      backtests.work.stop();
      await backtests.queue.stop();
      const ended = runs.stop();
      // What still runs or waits then is for the next start.
      const interrupt = setTimeout(() => void sandbox.stop(), stopGraceMs);
      await ended.finally(() => clearTimeout(interrupt));
      await consumer.storeMarks();
    },
  };
}

function routesOf(
  options: PluginRuntimeOptions,
  registry: Pick<Registry, 'codeKept' | 'source'>,
  { runner, runs, consumer, catchUps, backtests, stateOps }: Workers,
): Route[] {
  const { app, filterFields, addedFields, checkFilter, serverVersion } = options;
  const rules = {
    ...{ filterFields, addedFields, checkFilter, serverVersion },
    unheldNarrowing: (requests: ScopeRequests) => unheldNarrowing(app().routes, requests),
  };
  const { queue, work } = backtests;
  return [
    ...installRoutes({ ...rules, codeKept: registry.codeKept, stateOps }),
    ...backtestRoutes({ ...rules, queue, work, source: registry.source }),
    ...runRoutes({
      queue: runs,
      isActive: runner.isActive,
      stopAttempt: runner.stopAttempt,
      storeWork: consumer.storeWork,
    }),
    ...catchUpRoutes(catchUps),
    ...kvRoutes,
  ];
}
