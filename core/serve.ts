// The composition root: configuration → store → app → socket. Everything is built here once and handed down; nothing
// below reaches up.
import { createCommitter, type Committer } from './changes/commit.ts';
import { createWorkspaceCache } from './changes/workspace-cache.ts';
import type { Config } from './config.ts';
import type { Services } from './context.ts';
import { healthRoutes } from './health.ts';
import { streamRoutes } from './events/stream/routes.ts';
import { createStreams } from './events/stream/streams.ts';
import { createHousekeeping } from './housekeeping.ts';
import { createApp, type App } from './http/app.ts';
import { docsRoutes } from './http/docs.ts';
import { createBodies } from './http/body.ts';
import { createIdempotencyKeys } from './http/idempotency.ts';
import { createKernel } from './http/kernel.ts';
import { createOpenApi } from './http/openapi/routes.ts';
import { createOutflow } from './http/outflow.ts';
import { peerName } from './http/peer.ts';
import { createInProcessCalls, type InProcessCalls } from './http/principal.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { createAuthenticate } from './identity/api-keys/authenticate.ts';
import { systemClock, type Clock } from './lib/clock.ts';
import { createEgress, resolveWithSystem, type Resolve } from './lib/egress/egress.ts';
import { createLedger } from './ledger/ledger.ts';
import { createIds } from './lib/ids.ts';
import type { Log } from './lib/log.ts';
import { createSealing } from './lib/sealing.ts';
import { createLoopTurns } from './lib/fairness/loop-turns.ts';
import { pageRoutes } from './pages.ts';
import { installFirstParty } from './plugins/first-party.ts';
import { createPluginRuntime } from './plugins/runtime.ts';
import { createSandboxOnDemand } from './plugins/sandbox-on-demand.ts';
import { directoryLoaders, filterFieldsOf, resourceRoutes, sentEvents } from './resources.ts';
import { findNode } from './sandbox/locate.ts';
import { startSandbox } from './sandbox/supervisor.ts';
import { openStore } from './store/open-store.ts';
import { scopeOf } from './store/store.ts';
import { directoryAfter, directorySection } from './resource/directory.ts';
import { version } from './version.ts';
import { createWebhooks } from './webhooks/runtime.ts';

/** Idle or dripping connections are closed after this long. */
const idleTimeoutSeconds = 10;
/** Of a connection that is given up although its peer takes nothing. */
const hangUpSeconds = 1;
/** Answers under way have so long to be taken when the process stops. */
const drainMs = 5_000;
/** Bun's own cap, above every cap of ours, so that oversized bodies get our answer and not its bare one. */
const socketBodyBytesMax = 24 * 1024 * 1024;

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
  /** Who asks at the door without a socket. */
  readonly inProcess: InProcessCalls;
  /** Installs a plugin that comes with Tatami, granting what it asks. */
  installFirstParty(workspaceId: string, name: string): Promise<{ id: string }>;
  /** Resolves once events, runs and deliveries have caught up and nothing is due. */
  settled(): Promise<void>;
  /** Drains what is in flight, then closes everything. */
  stop(): Promise<void>;
}

export async function serve({
  config,
  log,
  clock = systemClock,
  random = Math.random,
  resolve = resolveWithSystem,
}: ServeOptions): Promise<Tatami> {
  const { nowMs } = clock;
  const ledger = createLedger(clock.monotonicMs);
  const opened = openStore(config.dataDir, nowMs, { budgetMs: config.readBudgetMs, charge: ledger.charge });
  const { store } = opened;
  let server: Bun.Server<undefined> | null = null;
  try {
    let handle: (request: Request) => Response | Promise<Response> = () =>
      new Response(null, { status: 503 });
    server = Bun.serve({
      port: config.port,
      hostname: config.host,
      reusePort: false,
      idleTimeout: idleTimeoutSeconds,
      maxRequestBodySize: socketBodyBytesMax,
      fetch: (request) => handle(request),
    });
    const { port } = server;
    const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
    const services: Services = {
      store,
      ids: createIds(nowMs),
      sealing: createSealing(opened.dataDir.masterKey),
      log,
      ledger,
      turns: createLoopTurns((owner, ms) => ledger.charge(owner, 'cpuMs', ms)),
      baseUrl: config.baseUrl ?? url,
      nowMs,
    };
    const cache = createWorkspaceCache();
    const directories = cache.section(directorySection(store, directoryLoaders));
    const committer = createCommitter({
      store,
      ids: services.ids,
      nowMs,
      baseUrl: services.baseUrl,
      directoryAfter,
    });
    committer.onCommit(cache.moveAlong);
    const inProcess = createInProcessCalls();
    const outflow = createOutflow(clock);
    const kernel = createKernel({
      services,
      committer,
      limiter: createRateLimiter(
        { perMinute: config.rates, workspacePerMinute: config.rates.workspace },
        nowMs,
      ),
      bodies: createBodies(services.turns),
      outflow,
      idempotency: createIdempotencyKeys({ store, sealing: services.sealing, nowMs }),
      authenticate: createAuthenticate({ store, committer, nowMs }),
      inProcess,
      directoryOf: directories.of,
      holdOpen(request) {
        server?.timeout(request, 0);
        return () => server?.timeout(request, hangUpSeconds);
      },
      peerOf: (request) =>
        peerName(
          server?.requestIP(request)?.address ?? 'local',
          request.headers.get('x-forwarded-for'),
          config.trustedProxy,
        ),
    });
    const sandbox = createSandboxOnDemand(() =>
      startSandbox({
        nodePath: config.nodePath ?? findNode(),
        log,
        clock: nowMs,
        jail: config.sandboxJail,
        split: config.sandboxSplit,
      }),
    );
    const owner = services.ids.uuid();
    const plugins = createPluginRuntime({
      services,
      clock,
      random,
      owner,
      committer,
      inProcess,
      cache,
      directoryOf: directories.of,
      sandbox,
      app: () => app,
      filterFields: filterFieldsOf,
      serverVersion: version,
    });
    const streams = createStreams({ store, clock, log, turns: services.turns, unsent: outflow.unsent });
    const webhooks = createWebhooks({
      services,
      clock,
      random,
      owner,
      committer,
      cache,
      directoryOf: directories.of,
      egress: createEgress({ allow: config.egressAllow, ownPort: () => port, resolve }),
      filterFields: filterFieldsOf,
      sentEvents: sentEvents(),
      streams,
      version,
    });
    const openapi = createOpenApi({ version, baseUrl: services.baseUrl, webhooks: sentEvents() });
    const app: App = createApp(kernel, [
      ...resourceRoutes,
      ...plugins.routes,
      ...webhooks.routes,
      ...streamRoutes(streams),
      openapi.route,
      ...(await docsRoutes(version)),
      ...pageRoutes(services.baseUrl),
      ...healthRoutes(() => ({ store: store.status().writable, sandbox: sandbox.status().state })),
    ]);
    openapi.describe(app.routes);
    const housekeeping = createHousekeeping({ store, clock, log });
    handle = app.fetch;
    await plugins.start();
    await webhooks.start();
    housekeeping.start();

    return {
      url,
      newDataDir: opened.dataDir.created,
      app,
      services,
      committer,
      inProcess,
      installFirstParty: (workspaceId, name) =>
        installFirstParty({ app, inProcess }, scopeOf(workspaceId), name),
      async settled() {
        await plugins.settled();
        await webhooks.settled();
      },
      async stop() {
        streams.stop();
        const cut = setTimeout(outflow.stop, drainMs);
        await server?.stop();
        clearTimeout(cut);
        await housekeeping.stop();
        await plugins.stop();
        await webhooks.stop();
        await sandbox.stop();
        await opened.close();
      },
    };
  } catch (error) {
    await server?.stop(true);
    await opened.close();
    throw error;
  }
}
