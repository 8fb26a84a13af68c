// Webhooks: a consumer that turns events into deliveries, and workers that make them.
import type { Committer } from '../changes/commit.ts';
import type { WorkspaceCache } from '../changes/workspace-cache.ts';
import type { Directory, Services } from '../context.ts';
import { createConsumer } from '../events/consumer.ts';
import type { Streams } from '../events/stream/streams.ts';
import { createWorkQueue } from '../events/work.ts';
import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Egress } from '../lib/egress/egress.ts';
import type { FilterFields } from '../lib/filter.ts';
import type { Scope } from '../store/store.ts';
import type { DeliveryWork } from './deliveries/deliveries.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { setDeliveriesBackOp } from './deliveries/rows.ts';
import { createDeliverer } from './deliver.ts';
import { endpointResource } from './endpoints/routes.ts';
import { createDisable } from './disable.ts';
import { endpointKind, isForgiven, type Endpoint } from './endpoints/kind.ts';
import { createHealths } from './health.ts';
import { createLanes } from './lanes.ts';
import { createPlanner } from './planner.ts';
import { replayRoutes } from './replays/routes.ts';
import { createReplayWorker } from './replays/worker.ts';
import { sampleRoutes } from './samples/routes.ts';
import { createSamples, type SentEvent } from './samples/samples.ts';
import { createSubscriptions } from './subscriptions.ts';

const replaysHeld = 8;
/** In memory; the attempts in flight are bounded per endpoint. */
const deliveriesHeld = 2_000;

export interface Webhooks {
  readonly routes: readonly Route[];
  start(): Promise<void>;
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export function createWebhooks(options: {
  services: Services;
  clock: Clock;
  random: () => number;
  owner: string;
  committer: Committer;
  cache: WorkspaceCache;
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  egress: Egress;
  filterFields: (eventType: string) => FilterFields;
  sentEvents: readonly SentEvent[];
  streams: Streams;
  version: string;
}): Webhooks {
  const { services, clock, owner, committer, egress, filterFields } = options;
  const { store, log, ids } = services;
  let stopped = false;
  const lanes = createLanes();
  const healths = createHealths(store, lanes);
  const subscriptions = createSubscriptions({
    store,
    cache: options.cache,
    log,
    turns: services.turns,
    filterFields,
  });

  const deliverer = createDeliverer({
    store,
    clock,
    random: options.random,
    log,
    sealing: services.sealing,
    egress,
    subscriptions,
    lanes,
    ledger: services.ledger,
    healths,
    baseUrl: services.baseUrl,
    version: options.version,
    disable: createDisable({ ...options, store, ids, log, subscriptions }),
  });
  const queue = createWorkQueue({
    store,
    clock,
    log,
    kind: 'delivery',
    owner,
    room: deliveriesHeld,
    setBack: (byMs) => [setDeliveriesBackOp(byMs)],
    perform: deliverer.perform,
  });
  const consumer = createConsumer({
    store,
    name: 'webhooks',
    log,
    listens: subscriptions.listens,
    plan: createPlanner({ clock, ids, baseUrl: services.baseUrl, subscriptions, deliverer, queue }),
  });

  const replays = createWorkQueue({
    store,
    clock,
    log,
    kind: 'replay',
    owner,
    room: replaysHeld,
    perform: createReplayWorker({
      store,
      clock,
      ids,
      subscriptions,
      deliveries: queue,
      stopped: () => stopped,
    }),
  });

  committer.onCommit((workspaceId, changes) => {
    for (const { kind, before, after } of changes) {
      if (kind !== endpointKind.name || before === null) continue;
      if (isForgiven(before as Endpoint, after as Endpoint)) healths.forgive(after.id);
    }
  });

  const work: DeliveryWork = { active: deliverer.active, noteCanceled: deliverer.noteCanceled, queue };
  return {
    routes: [
      ...endpointResource({
        checkUrl: egress.checkUrl,
        filterFields,
        forgiveOp: healths.forgiveOp,
        lastSucceededAt: healths.lastSucceededAt,
      }).routes,
      ...deliveryRoutes(work),
      ...replayRoutes(replays),
      ...sampleRoutes(createSamples(options.sentEvents), work, options.streams),
    ],
    async start() {
      await queue.start();
      await consumer.start();
      await replays.start();
    },
    async settled() {
      // Switching an endpoint off is an event that other endpoints may hear of.
      for (let rounds = 0; rounds < 2; rounds++) {
        await consumer.settled();
        await replays.settled();
        await queue.settled();
      }
    },
    async stop() {
      stopped = true;
      await consumer.stop();
      await replays.stop();
      deliverer.stop();
      await queue.stop();
      egress.close();
    },
  };
}
