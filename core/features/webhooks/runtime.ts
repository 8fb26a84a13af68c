// Assembles webhooks: the consumer that plans deliveries, the workers of deliveries and replays, and the
// routes.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Directory, Services } from '../../kernel/context.ts';
import {
  createConsumer,
  type Consumer,
  type ConsumerOptions,
} from '../../kernel/events/consumers/consumer.ts';
import type { FreshEvents } from '../../kernel/events/consumers/fresh.ts';
import type { SeenTimes } from '../../kernel/events/wall-clock.ts';
import { createUnitQueue, type UnitQueue, type WorkQueue } from '../../kernel/events/work/queue.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Egress } from '../../platform/lib/egress/egress.ts';
import { type Scope, scopeOf } from '../../platform/store/store.ts';
import { findDelivery, setDeliveriesBackOp, newDelivery } from './deliveries/rows.ts';
import { deliveryRows, type DeliveryUnit, deliveryUnit } from './deliveries/queue.ts';
import { consumerName, endpointModel, isForgiven, type Endpoint } from './endpoints/model.ts';
import { type Subscriptions, createSubscriptions } from './subscriptions.ts';
import { createDeliverer, type Deliverer } from './deliveries/deliverer.ts';
import { type Healths, createHealths } from './deliveries/health.ts';
import { type EndpointQueues, createEndpointQueues } from './deliveries/endpoint-queues.ts';
import { derivedId, idPrefixes } from '../../platform/lib/ids.ts';
import { messageOf } from './payload.ts';
import type { Change } from '../../kernel/changes/change.ts';
import type { WorkspaceCache } from '../../kernel/changes/workspace-cache.ts';
import type { Progress } from '../../kernel/events/consumers/consumer-positions.ts';
import type { Positions } from '../../kernel/events/consumers/positions.ts';
import type { Streams } from '../../kernel/events/stream/streams.ts';
import type { Route } from '../../kernel/http/route.ts';
import type { FilterFields } from '../../platform/lib/filter/filter.ts';
import type { CheckFilter } from '../../kernel/resource/filter/filtering.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { endpointResource } from './endpoints/routes.ts';
import { goesOff, createCanceler, type Canceler } from './deliveries/canceler.ts';
import { createReplays, type Replays } from './replays/worker.ts';
import { replayRoutes } from './replays/routes.ts';
import { createSampleMaker, sampleRoutes, type SampleEvent } from './sampling.ts';
import type { AllSamples } from '../../kernel/samples.ts';

interface Webhooks {
  readonly routes: readonly Route[];
  start(): Promise<void>;
  /** Moves due times after the clock was set. */
  followClock(): Promise<void>;
  settled(): Promise<void>;
  progress(): Progress;
  stop(): Promise<void>;
}

export interface WebhooksOptions {
  readonly services: Services;
  readonly clock: Clock;
  readonly random: () => number;
  readonly owner: string;
  readonly seen: SeenTimes;
  readonly committer: Committer;
  readonly fresh: FreshEvents;
  readonly positions: Positions;
  readonly cache: WorkspaceCache;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly egress: Egress;
  readonly filterFields: (eventType: string, directory?: Directory) => FilterFields;
  readonly checkFilter: CheckFilter;
  readonly sentEvents: readonly SampleEvent[];
  readonly samples: AllSamples;
  readonly streams: Streams;
  readonly version: string;
}

/** Maximum number of deliveries in memory. Concurrent attempts are limited per endpoint. */
const deliveriesInMemory = 2_000;

interface Pipeline {
  readonly consumer: Consumer;
  readonly queue: UnitQueue<DeliveryUnit>;
  readonly deliverer: Deliverer;
}

/**
 * Number of deliveries after which a page ends, so that many endpoints do not exceed the capacity of the
 * queue.
 */
const deliveriesAtOnce = 1_000;

function createPlanner(options: {
  clock: Clock;
  baseUrl: string;
  subscriptions: Subscriptions;
  deliverer: Deliverer;
  queue: WorkQueue;
}): ConsumerOptions<DeliveryUnit>['plan'] {
  const { clock, subscriptions, deliverer, queue } = options;
  const perform: Parameters<typeof deliveryUnit>[3] = (item, delivery, message) =>
    deliverer.performPlanned(item, queue, delivery, message);

  return async (scope, events, isMeant, isNew) => {
    const now = clock.nowMs();
    const units: DeliveryUnit[] = [];
    let through = 0;

    for (const event of events) {
      if (units.length >= deliveriesAtOnce) break;
      through = event.sequence;
      const wanting = await subscriptions.wanting(scope, event, isMeant);
      if (wanting.length === 0) continue;
      const message = messageOf(event, options.baseUrl);
      for (const endpoint of wanting) {
        const id = derivedId(idPrefixes.delivery, event.id, endpoint.id);
        if (!(await isNew(id))) continue;
        units.push(deliveryUnit(scope, newDelivery(id, endpoint, event, now), message, perform));
      }
    }
    return { units, notes: [], through };
  };
}

function createPipeline(
  options: WebhooksOptions,
  subscriptions: Subscriptions,
  healths: Healths,
  endpointQueues: EndpointQueues,
): Pipeline {
  const { services, clock, owner } = options;
  const { store, log, baseUrl, mayWork } = services;
  const deliverer = createDeliverer(options, subscriptions, healths, endpointQueues);
  const queue: UnitQueue<DeliveryUnit> = createUnitQueue({
    store,
    clock,
    log,
    mayWork,
    kind: 'delivery',
    owner,
    seen: options.seen,
    capacity: deliveriesInMemory,
    setBack: (byMs) => [setDeliveriesBackOp(byMs)],
    perform: deliverer.perform,
    rows: deliveryRows(store, deliverer.remember, () => queue),
  });
  const consumer = createConsumer({
    store,
    clock,
    name: consumerName,
    log,
    fresh: options.fresh,
    positions: options.positions,
    queue,
    listens: subscriptions.listens,
    plan: createPlanner({ clock, baseUrl, subscriptions, deliverer, queue }),
    isStored: async (scope, id) => (await findDelivery.one(store, scope, { id })) !== undefined,
  });
  return { consumer, queue, deliverer };
}

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { clock } = options;
  const { store, log } = options.services;
  const healths = createHealths(store);
  const endpointQueues = createEndpointQueues(healths.isProbing);
  const subscriptions = createSubscriptions(options);
  const pipeline = createPipeline(options, subscriptions, healths, endpointQueues);
  const { consumer, queue, deliverer } = pipeline;
  const replays = createReplays({
    services: options.services,
    clock,
    owner: options.owner,
    seen: options.seen,
    subscriptions,
    deliveries: queue,
    storeWork: consumer.storeWork,
  });

  const canceler = createCanceler({
    store,
    clock,
    log,
    storeWork: consumer.storeWork,
    noteOff: deliverer.noteOff,
    isOn: async (scope, id) => (await subscriptions.enabled(scope, id)) !== undefined,
    noteCanceled: (ids) => {
      for (const id of ids) deliverer.noteCanceled(id, queue);
    },
  });

  options.committer.onCommit((workspaceId, changes) => {
    followEndpoints(workspaceId, endpointsIn(changes), { canceler, healths, endpointQueues });
  });

  return {
    routes: routesOf(options, { healths, pipeline, replays, subscriptions, canceler }),
    async start() {
      await queue.start();
      await consumer.start();
      await replays.queue.start();
      await canceler.start();
    },
    async followClock() {
      await queue.followClock();
      await replays.queue.followClock();
    },
    settled: () => settle(pipeline, replays, canceler),
    progress: consumer.progress,
    async stop() {
      canceler.stop();
      await Promise.all([consumer.stop(), replays.stop()]);
      deliverer.stop();
      await queue.stop();
    },
  };
}

/** Cancels the deliveries of disabled endpoints, and forgives the failures that a change makes irrelevant. */
function followEndpoints(
  workspaceId: string,
  changes: readonly EndpointChange[],
  parts: { readonly canceler: Canceler; readonly healths: Healths; readonly endpointQueues: EndpointQueues },
): void {
  for (const { before, after } of changes) {
    if (goesOff(before, after)) parts.canceler.wentOff(scopeOf(workspaceId), after.id);
    if (!isForgiven(before, after)) continue;
    parts.healths.forgive(after.id);
    parts.endpointQueues.admit(after.id);
  }
}

async function settle({ consumer, queue }: Pipeline, replays: Replays, canceler: Canceler): Promise<void> {
  // A delivery may disable its endpoint, which is an event that is delivered to other endpoints.
  for (let rounds = 0; rounds < 2; rounds++) {
    await consumer.settled();
    await replays.queue.settled();
    await canceler.settled();
    await queue.settled();
  }
}

interface EndpointChange {
  readonly before: Endpoint;
  readonly after: Endpoint;
}

/** Returns the changes of existing endpoints. */
function endpointsIn(changes: readonly Change[]): EndpointChange[] {
  return changes
    .filter(({ kind, before }) => kind === endpointModel.name && before !== null)
    .map(({ before, after }) => ({ before: before as Endpoint, after: after as Endpoint }));
}

function routesOf(
  { egress, filterFields, checkFilter, sentEvents, samples, streams }: WebhooksOptions,
  parts: {
    readonly healths: Healths;
    readonly pipeline: Pipeline;
    readonly replays: Replays;
    readonly subscriptions: Subscriptions;
    readonly canceler: Canceler;
  },
): readonly Route[] {
  const { healths, subscriptions } = parts;
  const { consumer, deliverer, queue } = parts.pipeline;
  const { storeWork } = consumer;
  const work = {
    active: deliverer.active,
    noteCanceled: deliverer.noteCanceled,
    storeWork,
    queue,
    enabled: subscriptions.enabledIds,
  };
  return [
    ...endpointResource({
      checkUrl: egress.checkUrl,
      filterFields,
      checkFilter,
      forgiveOp: healths.forgiveOp,
      cancelOpen: parts.canceler.finish,
      lastSucceededAt: healths.lastSucceededAt,
    }).routes,
    ...deliveryRoutes(work),
    ...replayRoutes(parts.replays.queue),
    ...sampleRoutes(createSampleMaker(sentEvents, samples), work, streams),
  ];
}
