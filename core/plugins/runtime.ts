// The plugin runtime: installs, the consumer that makes runs of events, the queue that performs them, and schedules.
import { systemAuthor, type Committer } from '../changes/commit.ts';
import type { Directory, Services } from '../context.ts';
import { inboxItem } from '../inbox/inbox.ts';
import { createConsumer } from '../events/consumer.ts';
import { createWorkQueue } from '../events/work.ts';
import type { App } from '../http/app.ts';
import type { InProcessCalls } from '../http/principal.ts';
import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { errorForLog } from '../lib/failures.ts';
import type { FilterFields } from '../lib/filter.ts';
import type { ScopeRequests } from '../rights/rights.ts';
import { unheldNarrowing } from '../rights/table.ts';
import { systemStatement } from '../store/statement.ts';
import type { SandboxOnDemand } from './sandbox-on-demand.ts';
import type { Op, Scope } from '../store/store.ts';
import { catchUpRoutes } from './catch-up/routes.ts';
import { gapOps } from './catch-up/rows.ts';
import { createCatchUpWorker } from './catch-up/worker.ts';
import { createFailureWatch } from './failures.ts';
import { createCallTurns } from './call-turns.ts';
import { installRoutes } from './installs/routes.ts';
import { installKind, type Install } from './installs/schema.ts';
import { tellUnheard } from './installs/unheard.ts';
import { kvRoutes } from './kv/routes.ts';
import { createPlanner } from './planner.ts';
import { createRegistry } from './registry.ts';
import { createRunner } from './runner.ts';
import { runRoutes } from './runs/routes.ts';
import { createSchedules } from './schedules.ts';

/** Runs in memory, with their events; the sandbox runs one at a time per partition and decides how many at once. */
const runsHeld = 512;
/** Gaps that are counted or caught up at once. */
const catchUpsHeld = 16;

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
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export function createPluginRuntime(options: {
  services: Services;
  clock: Clock;
  random: () => number;
  owner: string;
  committer: Committer;
  inProcess: InProcessCalls;
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  sandbox: SandboxOnDemand;
  /** The door; known once the app is made of these routes among others. */
  app: () => App;
  filterFields: (eventType: string) => FilterFields;
  serverVersion: string;
}): PluginRuntime {
  const { services, clock, owner, committer, sandbox, filterFields } = options;
  const { store, log, ids } = services;
  const registry = createRegistry({ store, log, filterFields });
  const failures = createFailureWatch(clock.nowMs);
  let stopping = false;

  const disable = async (
    scope: Scope,
    install: Install,
    why: { state: Install['state']; reason: string },
  ): Promise<void> => {
    const change = installKind.update(install, { state: why.state, stateReason: why.reason }, clock.nowMs());
    if (!change) return;
    const author = systemAuthor(scope, 'sandbox', await options.directoryOf(scope));
    const item = inboxItem(
      {
        kind: 'plugin_disabled',
        title: `The plugin ${install.manifest.name ?? install.pluginId} was switched off`,
        body: `${why.reason} Look at its runs; once it is mended, install the new version or switch it on again. What it misses until then is counted, and run when you ask for it.`,
        target: { kind: installKind.name, id: install.id },
      },
      { ids, nowMs: clock.nowMs() },
    );
    const committed = await committer.commit(author, [change, item], [], stateOps(change.after, { scope }));
    if (committed.ok)
      log('warn', 'plugin disabled', {
        workspaceId: scope.workspaceId,
        installId: install.id,
        reason: why.reason,
      });
  };

  /** Ahead of the first run, so that it need not wait for the start. */
  const warm = (): void => {
    sandbox
      .get()
      .catch((error: unknown) => log('error', 'the sandbox did not start', { error: errorForLog(error) }));
  };

  const runner = createRunner({
    store,
    clock,
    log,
    random: options.random,
    ids,
    committer,
    app: options.app,
    inProcess: options.inProcess,
    directoryOf: options.directoryOf,
    registry,
    sandbox,
    ledger: services.ledger,
    isStopping: () => stopping,
    callTurns: createCallTurns({ ledger: services.ledger }),
    failures,
    disable,
  });
  const runs = createWorkQueue({
    store,
    clock,
    log,
    kind: 'run',
    owner,
    room: runsHeld,
    setBack: () => [],
    perform: runner.perform,
  });
  const schedules = createSchedules({ store, clock, log, ids, owner, registry, runs });
  const planner = createPlanner({
    store,
    clock,
    ids,
    registry,
    turns: services.turns,
    queue: runs,
    remember: runner.remember,
  });
  const consumer = createConsumer({
    store,
    name: 'plugins',
    log,
    listens: registry.listens,
    plan: planner.plan,
  });
  const catchUps = createWorkQueue({
    store,
    clock,
    log,
    kind: 'catch-up',
    owner,
    room: catchUpsHeld,
    setBack: () => [],
    perform: createCatchUpWorker({
      store,
      clock,
      ids,
      committer,
      directoryOf: options.directoryOf,
      registry,
      planner,
      runs,
      stopped: () => stopping,
    }),
  });
  const stateOps = (install: Install, { scope }: { scope: Scope }): readonly Op[] => [
    ...schedules.opsFor(install, { scope }),
    ...gapOps(catchUps, scope, install, { gapId: ids.next('gap'), nowMs: clock.nowMs() }),
  ];

  committer.onCommit((workspaceId, changes) => {
    registry.moveAlong(workspaceId, changes);
    for (const change of changes)
      if (change.kind === installKind.name) {
        sandbox.evict(change.id);
        failures.forget(change.id);
        catchUps.wake();
        warm();
      }
  });

  const rules = {
    filterFields,
    unheldNarrowing: (requests: ScopeRequests) => unheldNarrowing(options.app().routes, requests),
    serverVersion: options.serverVersion,
    stateOps,
  };
  return {
    routes: [
      ...installRoutes(rules),
      ...runRoutes({ queue: runs, activity: runner }),
      ...catchUpRoutes(catchUps),
      ...kvRoutes,
    ],
    async start() {
      if ((await store.readSystem(anyInstall)).length > 0) warm();
      await tellUnheard({ store, committer, ids, directoryOf: options.directoryOf, nowMs: clock.nowMs });
      await runs.start();
      await schedules.queue.start();
      await catchUps.start();
      await consumer.start();
    },
    async settled() {
      await consumer.settled();
      await schedules.queue.settled();
      await catchUps.settled();
      await runs.settled();
    },
    async stop() {
      stopping = true;
      await consumer.stop();
      await schedules.queue.stop();
      await catchUps.stop();
      const ended = runs.stop();
      // What still runs or waits then is for the next start.
      const interrupt = setTimeout(() => void sandbox.stop(), stopGraceMs);
      await ended.finally(() => clearTimeout(interrupt));
    },
  };
}
