// Composition root: configuration → store → socket → services → request handling → workers → app. Everything is created here once and
// passed down. The parts are in `serve/`.
import type { WorkerDeps } from '../../kernel/feature.ts';
import { join } from 'node:path';
import { createBackupSchedule, type BackupSchedule } from '../../platform/backup/schedule.ts';
import { EntityCache } from '../../kernel/changes/entity-cache.ts';
import { createCommitter, type Committer } from '../../kernel/changes/commit.ts';
import { createWorkspaceCache } from '../../kernel/changes/workspace-cache.ts';
import { createCopier, type Copier } from '../../platform/backup/copy/copier.ts';
import { openDestination } from '../../platform/backup/copy/destination/destination.ts';
import { addressOf, type Config } from '../config/config.ts';
import type { Services } from '../../kernel/context.ts';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import { createHealth, type Health } from '../health/health.ts';
import { streamRoutes } from '../../kernel/events/stream/routes.ts';
import { createApp, type App } from '../../kernel/http/app.ts';
import { docsFrame } from '../../kernel/html.ts';
import { docsRoutes, createOpenApi } from '../../kernel/http/openapi/routes.ts';
import { createFreshEvents, type FreshEvents } from '../../kernel/events/consumers/fresh.ts';
import { createPositions, type Positions } from '../../kernel/events/consumers/positions.ts';
import { createProjections } from '../../kernel/events/consumers/projections.ts';
import { readSeenTimes } from '../../kernel/events/wall-clock.ts';
import { systemClock, type Clock } from '../../platform/lib/time/clock.ts';
import {
  createEgress,
  resolveWithSystem,
  type Egress,
  type Resolve,
} from '../../platform/lib/egress/egress.ts';
import { createLedger, type Ledger } from '../../kernel/ledger/ledger.ts';
import { createIds } from '../../platform/lib/ids.ts';
import { signedFileRoute } from '../../features/attachments/index.ts';
import { createMe } from '../../features/me/index.ts';
import type { Log } from '../../platform/lib/log.ts';
import { createMail } from '../../platform/lib/mail.ts';
import { createAccountGrants, grantsOfAccount, oauthRoutes } from '../../features/oauth/index.ts';
import { createProblems, type Problems } from '../../platform/lib/errors/failures.ts';
import { createSealing } from '../../platform/lib/secrets/sealing.ts';
import { embedded } from '../../platform/lib/process/embedded.ts';
import { createOutcomeCounter } from '../../platform/lib/outcome-counter.ts';
import { createLoopQueue } from '../../platform/lib/fairness/loop-queue.ts';
import { guideRoutes } from '../pages/guides.ts';
import { createDashboard } from '../dashboard/open.ts';
import { dashboardRoutes } from '../dashboard/routes.ts';
import { proposal } from '../../features/proposals/contract.ts';
import { installFirstParty } from '../../features/plugins/index.ts';
import { delegations, directoryLoaders, projections, resourceRoutes, tagGroups } from '../features.ts';
import { sentEvents } from '../event-schemas.ts';
import {
  createAgents,
  type Agents,
  createHttpAdapters,
  type HttpAdapters,
  createIdentity,
  type ServedIdentity,
} from './http.ts';
import { createRestorePause, type RestorePause } from './restore-pause.ts';
import { settleMasterKey } from '../setup/master-key.ts';
import { openOperatorServer, type OperatorServer } from './operator-server.ts';
import { signInPageRoutes } from '../../features/sign-in/index.ts';
import { listen, type Socket } from './socket.ts';
import { createWorkers, type Workers } from './workers.ts';
import { type OperatorRpcOptions, createOperatorRpc } from '../setup/operator-rpc.ts';
import { readInstallation, type Installation } from '../../platform/store/files/installation.ts';
import { clearIncoming, createBlobs } from '../../platform/store/files/blobs.ts';
import { openStore } from '../../platform/store/open-store.ts';
import { scopeOf } from '../../platform/store/store.ts';
import { directoryAfter, directorySection } from '../../kernel/resource/directory.ts';
import { version } from '../version.ts';

/** Time that clients have on shutdown to finish sending requests and to receive responses. */
const drainMs = 4_000;
/** Time, within `drainMs`, for connections to become idle. */
const quietByMs = 1_500;
/** Time limit for sending the last part of the continuous copy. */
const lastCopyMs = 3_000;

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
  /** URL of the metrics; null if metrics are off. */
  readonly metricsUrl: string | null;
  /** True if this start created the data directory. */
  readonly newDataDir: boolean;
  readonly app: App;
  readonly services: Services;
  readonly committer: Committer;
  /** Null if there is no continuous copy. */
  readonly copier: Copier | null;
  /** Installs a first-party plugin and grants the scopes that it requests. */
  installFirstParty(workspaceId: string, name: string): Promise<{ id: string }>;
  /** Resolves once events, runs and deliveries have caught up and nothing is due. */
  settled(): Promise<void>;
  /**
   * Drains requests in flight, then closes everything.
   * @param quietMs connections are closed once no request has arrived on any for this long; default 0, which may reset a request in
   * transit
   */
  stop(options?: { readonly quietMs: number }): Promise<void>;
}

export async function serve(options: ServeOptions): Promise<Tatami> {
  const { config, clock = systemClock } = options;
  if (config.nodePath === null) embedded?.prepare();
  const ledger = createLedger(clock.monotonicMs);
  const problems = createProblems(clock.nowMs);
  const opened = openStore(config.dataDir, clock.nowMs, {
    budgetMs: config.readBudgetMs,
    charge: ledger.charge,
    isCopied: config.copy !== null,
    log: options.log,
    problems,
  });
  let socket: Socket | null = null;
  try {
    socket = listen(config, options.log);
    warnOfProxy(config, options.log);
    return await compose({ ...options, clock, ledger, problems, opened, socket });
  } catch (error) {
    await socket?.close();
    await opened.close();
    throw error;
  }
}

/**
 * Warns that links lack a public address. Events and deliveries contain links but have no request to take the
 * address from.
 */
function warnOfProxy({ trustedProxy, baseUrl }: Config, log: Log): void {
  if (trustedProxy.length > 0 && baseUrl === null)
    log('warn', 'a trusted proxy is configured, but no public address', {
      fix: 'Give the address of the proxy with --base-url; until then, links in responses, events and webhooks name this machine.',
    });
}

/** Parts that all other parts depend on. */
interface Ground extends ServeOptions {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly problems: Problems;
  readonly opened: ReturnType<typeof openStore>;
  readonly socket: Socket;
}

async function compose(ground: Ground): Promise<Tatami> {
  const { config, clock, random = Math.random, resolve = resolveWithSystem, opened, socket } = ground;
  const hold = createRestorePause({ ...ground, dataDir: config.dataDir });
  const masterKey = await settleMasterKey(opened.store, opened.dataDir);
  const installation = await readInstallation(opened.store);
  const reading = createReading(ground);
  const services = createServices(ground, { hold, masterKey, installation, reading });
  const seen = await readSeenTimes(opened.store);
  const cache = createWorkspaceCache();
  const directories = cache.section(directorySection(services.store, directoryLoaders));
  const committer = createCommitter({ ...services, ...reading, directoryAfter });
  committer.onCommit(cache.moveAlong);
  const shared = { config, clock, services, committer, ...reading, directoryOf: directories.of };

  const identity = createIdentity({ ...shared, resolve, port: socket.port });
  const adapters = createHttpAdapters({ ...shared, identity, socket });
  const egress = createEgress({ allow: config.egressAllow, ownPort: () => socket.port, resolve });
  const workers = createWorkers({
    ...shared,
    cache,
    seen,
    random,
    egress,
    adapters,
    snapshots: opened.dataDir.snapshots,
    app: () => app,
  });
  identity.authentication.onForgotten(workers.streams.askAgain);
  const health = await createHealth({ ...shared, ...workers, version });
  const agents = createAgents({ ...shared, app: () => app });
  const app: App = mount({ ...shared, adapters, workers, health, identity, agents, egress, app: () => app });
  const copier = await createCopy(ground, installation);
  const backups = createBackups(ground, installation);

  const mayWrite = opened.onlyToRead === null;
  if (mayWrite) clearIncoming(opened.dataDir.blobs);
  socket.serve(app.fetch);
  // These parts only write, so a read-only server does not start them.
  if (mayWrite) {
    await hold.start(services.store, workers.start);
    for (const part of [identity, copier, backups]) part?.start();
  }
  await health.start();
  const operator = openOperator(ground, { ...services, committer, directoryOf: directories.of });
  const parts = [services.mail, operator, backups, hold, workers, health, identity];

  return {
    url: socket.url,
    metricsUrl: health.metricsUrl,
    newDataDir: opened.dataDir.created,
    app,
    services,
    committer,
    copier,
    installFirstParty: (workspaceId, name) => installFirstParty(app, scopeOf(workspaceId), name),
    async settled() {
      await identity.settled();
      await services.mail?.settled();
      await workers.settled();
    },
    stop: ({ quietMs } = { quietMs: 0 }) =>
      stop({ quietMs, socket, opened, adapters, agents, workers, parts, copier }),
  };
}

/** Drains requests in flight, stops all background work, and closes the files last. */
async function stop(of: {
  quietMs: number;
  socket: Socket;
  adapters: HttpAdapters;
  agents: Agents;
  workers: Workers;
  parts: readonly ({ stop(): Promise<void> } | null)[];
  copier: Copier | null;
  opened: Ground['opened'];
}): Promise<void> {
  const { quietMs, socket, adapters, agents, workers, parts, copier, opened } = of;
  workers.streams.stop();
  agents.stop();
  const cut = setTimeout(() => {
    adapters.outflow.stop();
    void socket.close();
  }, drainMs);
  await socket.drain({ quietMs, quietByMs });
  clearTimeout(cut);
  for (const part of parts) await part?.stop();
  await opened.store.close();
  await copier?.finish(lastCopyMs);
  await opened.close();
}

/** Parts that all readers of the event log share. */
interface LogReading {
  readonly fresh: FreshEvents;
  readonly positions: Positions;
}

function createReading({ clock, log, opened: { store } }: Ground): LogReading {
  return { fresh: createFreshEvents(), positions: createPositions({ store, clock, log }) };
}

/** Returns null on a read-only server: all operator requests write. */
function openOperator({ config, log, opened }: Ground, options: OperatorRpcOptions): OperatorServer | null {
  return opened.onlyToRead === null
    ? openOperatorServer(config.dataDir, createOperatorRpc(options), log)
    : null;
}

function createBackups(
  { config: { dataDir, backups }, clock, log, problems }: Ground,
  { name }: Installation,
): BackupSchedule | null {
  return backups && createBackupSchedule({ ...backups, dataDir, name, clock, log, problems });
}

function createServices(
  { config, log, clock: { nowMs }, ledger, problems, opened, socket }: Ground,
  {
    hold,
    masterKey,
    installation,
    reading,
  }: { hold: RestorePause; masterKey: Uint8Array; installation: Installation; reading: LogReading },
): Services {
  return {
    store: opened.store,
    entities: new EntityCache(opened.store),
    ids: createIds(nowMs),
    sealing: createSealing(masterKey),
    log,
    ledger,
    problems,
    outcomeCounter: createOutcomeCounter(),
    blobs: createBlobs({ folder: opened.dataDir.blobs, limits: config.files, nowMs }),
    delegations,
    projections: createProjections({ store: opened.store, ...reading }, projections),
    fairQueue: createLoopQueue((owner, ms) => ledger.charge(owner, 'cpuMs', ms)),
    mail: config.mail && createMail(config.mail, log),
    baseUrl: addressOf({ ...config, port: socket.port }),
    settings: config.settings,
    mayWork: hold.mayWork,
    generation: installation.generation,
    nowMs,
  };
}

async function createCopy(
  { config, clock, log, problems, opened }: Ground,
  installation: Installation,
): Promise<Copier | null> {
  if (!config.copy) return null;
  const { to, s3, everyMs, retentionMs } = config.copy;
  const { database, walArchive } = opened.dataDir;
  return createCopier({
    clock,
    log,
    problems,
    version,
    everyMs,
    retentionMs,
    database,
    walArchive,
    archive: join(config.dataDir, 'archive'),
    store: opened.store,
    installation,
    destination: openDestination(to, s3),
  });
}

interface Mounted extends WorkerDeps {
  readonly config: Config;
  readonly adapters: HttpAdapters;
  readonly workers: Workers;
  readonly health: Health;
  readonly identity: ServedIdentity;
  readonly egress: Egress;
  readonly agents: Agents;
  readonly app: () => App;
}

/** Returns the app with all routes, in the order of the OpenAPI document. */
function mount(parts: Mounted): App {
  const { adapters, workers, health, identity, agents, config } = parts;
  const { baseUrl } = parts.services;
  const openapi = createOpenApi({
    version,
    baseUrl,
    webhooks: sentEvents(),
    tagGroups,
    proposal: schemasOf(proposal).response,
  });
  const routes = [
    ...resourceRoutes,
    createMe(config.rates),
    ...workers.routes,
    ...streamRoutes(workers.streams),
    ...agents.routes,
    ...oauthRoutes({ ...parts, ...identity }),
    openapi.route,
    ...docsRoutes(docsFrame),
    ...guideRoutes,
    ...identity.bearers.routes,
    ...dashboardRoutes({ ...identity, baseUrl, open: createDashboard() }),
    ...signInPageRoutes({
      ...parts,
      ...identity,
      grants: createAccountGrants({ ...parts, ended: identity.sessions.ended }),
      apps: grantsOfAccount({ ...parts, ...identity }),
    }),
    ...health.routes,
  ];
  const app = createApp(adapters, routes, health.traffic, [signedFileRoute(parts.services)]);
  openapi.describe(app.routes);
  return app;
}
