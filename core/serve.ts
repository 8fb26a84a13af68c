// The composition root: configuration → store → socket → services → door → workers → app. Everything is built here once and
// handed down; nothing below reaches up. What each of them is made of stands in `serve/`.
import { createCommitter, type Committer } from './changes/commit.ts';
import { createWorkspaceCache } from './changes/workspace-cache.ts';
import type { Config } from './config.ts';
import type { Services } from './context.ts';
import { healthRoutes } from './health.ts';
import { streamRoutes } from './events/stream/routes.ts';
import { createApp, type App } from './http/app.ts';
import { docsRoutes } from './http/docs.ts';
import { createOpenApi } from './http/openapi/routes.ts';
import { createFreshEvents } from './events/fresh.ts';
import { readSeenTimes } from './events/wall-clock.ts';
import { systemClock, type Clock } from './lib/clock.ts';
import { resolveWithSystem, type Resolve } from './lib/egress/egress.ts';
import { createLedger, type Ledger } from './ledger/ledger.ts';
import { createIds } from './lib/ids.ts';
import type { Log } from './lib/log.ts';
import { createProblems, type Problems } from './lib/problems.ts';
import { createSealing } from './lib/sealing.ts';
import { createLoopTurns } from './lib/fairness/loop-turns.ts';
import { pageRoutes } from './pages.ts';
import { installFirstParty } from './plugins/first-party.ts';
import { directoryLoaders, resourceRoutes, sentEvents } from './resources.ts';
import { createDoor, type Door } from './serve/door.ts';
import { listen, type Socket } from './serve/socket.ts';
import { createWorkers, type Workers } from './serve/workers.ts';
import { readInstallation } from './store/installation.ts';
import { openStore } from './store/open-store.ts';
import { scopeOf } from './store/store.ts';
import { directoryAfter, directorySection } from './resource/directory.ts';
import { version } from './version.ts';

/** When the process stops, clients have so long to take the answers that are under way. */
const drainMs = 5_000;

export interface ServeOptions {
  readonly config: Config;
  readonly log: Log;
  readonly clock?: Clock;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random?: () => number;
  /** DNS of webhook receivers. */
  readonly resolve?: Resolve;
}

export interface Tatami {
  readonly url: string;
  /** True when this start made the data directory. */
  readonly newDataDir: boolean;
  readonly app: App;
  readonly services: Services;
  readonly committer: Committer;
  /** Installs a plugin that comes with Tatami, granting what it asks. */
  installFirstParty(workspaceId: string, name: string): Promise<{ id: string }>;
  /** Resolves once events, runs and deliveries have caught up and nothing is due. */
  settled(): Promise<void>;
  /** Drains what is in flight, then closes everything. */
  stop(): Promise<void>;
}

export async function serve(options: ServeOptions): Promise<Tatami> {
  const { config, clock = systemClock } = options;
  const ledger = createLedger(clock.monotonicMs);
  const problems = createProblems(clock.nowMs);
  const opened = openStore(config.dataDir, clock.nowMs, {
    budgetMs: config.readBudgetMs,
    charge: ledger.charge,
  });
  let socket: Socket | null = null;
  try {
    socket = listen(config);
    return await compose({ ...options, clock, ledger, problems, opened, socket });
  } catch (error) {
    await socket?.close();
    await opened.close();
    throw error;
  }
}

/** What there is before the rest is built on it. */
interface Ground extends ServeOptions {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly problems: Problems;
  readonly opened: ReturnType<typeof openStore>;
  readonly socket: Socket;
}

async function compose(ground: Ground): Promise<Tatami> {
  const { config, clock, random = Math.random, resolve = resolveWithSystem, opened, socket } = ground;
  const { generation } = await readInstallation(opened.store);
  const seen = await readSeenTimes(opened.store);
  const services = createServices(ground, generation);
  const { store, ids, baseUrl, nowMs } = services;
  const cache = createWorkspaceCache();
  const directories = cache.section(directorySection(store, directoryLoaders));
  const fresh = createFreshEvents();
  const committer = createCommitter({ store, ids, nowMs, baseUrl, fresh, directoryAfter });
  committer.onCommit(cache.moveAlong);
  const shared = { config, clock, services, committer, fresh, directoryOf: directories.of };

  const door = createDoor({ ...shared, socket });
  const { port } = socket;
  const workers = createWorkers({ ...shared, cache, seen, random, resolve, door, port, app: () => app });
  const app: App = await mount(door, services, workers);

  socket.serve(app.fetch);
  await workers.start();

  return {
    url: socket.url,
    newDataDir: opened.dataDir.created,
    app,
    services,
    committer,
    installFirstParty: (workspaceId, name) => installFirstParty(app, scopeOf(workspaceId), name),
    settled: workers.settled,
    async stop() {
      workers.streams.stop();
      const cut = setTimeout(door.outflow.stop, drainMs);
      await socket.drain();
      clearTimeout(cut);
      await workers.stop();
      await opened.close();
    },
  };
}

function createServices(
  { config, log, clock: { nowMs }, ledger, problems, opened, socket }: Ground,
  generation: string,
): Services {
  return {
    store: opened.store,
    ids: createIds(nowMs),
    sealing: createSealing(opened.dataDir.masterKey),
    log,
    ledger,
    problems,
    turns: createLoopTurns((owner, ms) => ledger.charge(owner, 'cpuMs', ms)),
    baseUrl: config.baseUrl ?? socket.url,
    generation,
    nowMs,
  };
}

/** All routes there are, in the order of the OpenAPI document. */
async function mount(door: Door, { store, baseUrl }: Services, workers: Workers): Promise<App> {
  const openapi = createOpenApi({ version, baseUrl, webhooks: sentEvents() });
  const app = createApp(door, [
    ...resourceRoutes,
    ...workers.routes,
    ...streamRoutes(workers.streams),
    openapi.route,
    ...(await docsRoutes(version)),
    ...pageRoutes(baseUrl),
    ...healthRoutes(() => ({ store: store.status().writable, sandbox: workers.sandboxState() })),
  ]);
  openapi.describe(app.routes);
  return app;
}
