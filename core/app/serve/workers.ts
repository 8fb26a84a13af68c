// Assembles the background work: plugins in their sandbox, webhooks, event streams, and retention.
import type { WorkspaceCache } from '../../kernel/changes/workspace-cache.ts';
import type { Config } from '../config/config.ts';
import type { FreshEvents } from '../../kernel/events/consumers/fresh.ts';
import type { Positions } from '../../kernel/events/consumers/positions.ts';
import type { Progress } from '../../kernel/events/consumers/consumer-positions.ts';
import { createStreams, type Streams } from '../../kernel/events/stream/streams.ts';
import { createWallClock, type SeenTimes } from '../../kernel/events/wall-clock.ts';
import { createHousekeeping } from '../housekeeping/housekeeping.ts';
import { createPurgedTimer } from '../housekeeping/purged-issues.ts';
import type { App } from '../../kernel/http/app.ts';
import type { Route } from '../../kernel/http/route.ts';
import type { WorkerDeps } from '../../kernel/feature.ts';
import type { Egress } from '../../platform/lib/egress/egress.ts';
import {
  createPluginRuntime,
  createPublicTriage,
  createSandboxOnDemand,
  type SandboxOnDemand,
} from '../../features/plugins/index.ts';
import { createDueTimers, type DueTimer } from '../../kernel/event-reactions/due-timers.ts';
import { createReactions } from '../../kernel/event-reactions/reactions.ts';
import { features, timers, eventReactions, storedModels, samples } from '../features.ts';
import { addedFieldsOf, checkFilter, filterFieldsOf, sentEvents } from '../event-schemas.ts';
import { findNode } from '../../platform/sandbox/locate.ts';
import { startSandbox } from '../../platform/sandbox/supervisor.ts';
import { createFindDuplicates } from '../../features/search/index.ts';
import { version } from '../version.ts';
import { createWebhooks } from '../../features/webhooks/index.ts';
import type { HttpAdapters } from './http.ts';

export interface Workers {
  /** Routes of plugins and webhooks. */
  readonly routes: readonly Route[];
  readonly streams: Streams;
  /** State of the sandbox, for `/readyz`. */
  sandboxState(): string;
  /** Lag of each consumer of the event log. */
  progress(): readonly Progress[];
  start(): Promise<void>;
  /** Resolves once events, runs and deliveries have caught up and nothing is due. */
  settled(): Promise<void>;
  /** Finishes work in progress. Streams are stopped separately, before the socket. */
  stop(): Promise<void>;
}

interface WorkersOptions extends WorkerDeps {
  readonly config: Config;
  readonly random: () => number;
  readonly fresh: FreshEvents;
  readonly positions: Positions;
  readonly cache: WorkspaceCache;
  readonly seen: SeenTimes;
  readonly adapters: HttpAdapters;
  /** Folder of the snapshots. */
  readonly snapshots: string;
  /** HTTP client of webhooks and plugins, closed together with them. */
  readonly egress: Egress;
  /** The app through which plugins make calls; available once it is built, since it includes these routes. */
  readonly app: () => App;
}

export function createWorkers(options: WorkersOptions): Workers {
  const { clock, services, adapters } = options;
  const { store, log } = services;
  const sandbox = createSandbox(options);
  const shared = sharedOf(options);
  const plugins = createPluginRuntime({
    ...shared,
    sandbox,
    models: storedModels,
    app: options.app,
    serverVersion: version,
  });
  const streams = createStreams({
    store,
    clock,
    log,
    fairQueue: services.fairQueue,
    fresh: options.fresh,
    generation: services.generation,
    unsent: adapters.outflow.unsent,
  });
  const webhooks = createWebhooks({ ...shared, sentEvents: sentEvents(), samples, version, streams });
  const housekeeping = housekeepingOf(options);
  const others = features.flatMap(({ workers = [] }) => workers.map((create) => create(shared)));
  const reacting = createReactions(shared, eventReactions);
  const dueTimers = createDueTimers(shared, timersWith(plugins));
  const wallClock = createWallClock({
    store,
    clock,
    log,
    follow: () => follow([plugins, webhooks, dueTimers]),
  });
  const duplicatesOf = createFindDuplicates(services, options.directoryOf);
  return {
    routes: [...plugins.routes, ...webhooks.routes, createPublicTriage({ sandbox, log, duplicatesOf })],
    streams,
    sandboxState: () => sandbox.status().state,
    progress: () => [plugins.progress(), webhooks.progress()],
    async start() {
      await plugins.start();
      await webhooks.start();
      for (const worker of [reacting, dueTimers, ...others]) await worker.start();
      housekeeping.start();
      await wallClock.start();
    },
    async settled() {
      // Reactions follow the others, as they gather events for a while.
      await settleAll(options.fresh, [dueTimers, plugins, webhooks, ...others, reacting]);
      await options.positions.settled();
    },
    async stop() {
      await wallClock.stop();
      await housekeeping.stop();
      for (const worker of [dueTimers, reacting, ...others]) await worker.stop();
      await Promise.all([plugins.stop(), webhooks.stop()]);
      await options.positions.stop();
      options.egress.close();
      await sandbox.stop();
    },
  };
}

const timersWith = (plugins: ReturnType<typeof createPluginRuntime>): readonly DueTimer[] => [
  ...timers,
  ...plugins.timers,
  createPurgedTimer(plugins.forgetIssues),
];

interface Settling {
  settled(): Promise<void>;
}

/** Settles the workers in turn until no new events are added, because each may cause events for the others. */
async function settleAll(fresh: FreshEvents, workers: readonly Settling[]): Promise<void> {
  let added: number;
  do {
    added = fresh.added();
    for (const worker of workers) await worker.settled();
  } while (fresh.added() !== added);
}

/** Reschedules waiting work after a change of the wall clock, one worker after the other. */
async function follow(workers: readonly { followClock(): Promise<void> }[]): Promise<void> {
  for (const worker of workers) await worker.followClock();
}

function sharedOf(options: WorkersOptions) {
  const { services, committer, clock, directoryOf, random, seen, fresh, positions, cache, egress } = options;
  /** Name of this process on its work leases. */
  const owner = services.ids.uuid();
  const filters = { filterFields: filterFieldsOf, addedFields: addedFieldsOf, checkFilter };
  return {
    ...{ services, committer, clock, directoryOf, random, seen, fresh, positions, cache, egress, owner },
    ...filters,
  };
}

function housekeepingOf({ config, clock, services: { store, log, blobs }, snapshots }: WorkersOptions) {
  return createHousekeeping({ store, clock, log, retention: config.retention, blobs, snapshots });
}

function createSandbox({ config, clock, services: { log } }: WorkersOptions): SandboxOnDemand {
  return createSandboxOnDemand(() =>
    startSandbox({
      nodePath: config.nodePath ?? findNode(),
      log,
      clock: clock.nowMs,
      after: clock.after,
      jail: config.sandboxJail,
      split: config.sandboxSplit,
    }),
  );
}
