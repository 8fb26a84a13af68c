// Assembles the delivery pipeline: the consumer that plans deliveries, their queue, and the worker that
// sends them.
import type { Committer } from '../../changes/commit.ts';
import type { Directory, Services } from '../../context.ts';
import { createConsumer, type Consumer } from '../../events/consumer.ts';
import type { FreshEvents } from '../../events/fresh.ts';
import type { SeenTimes } from '../../events/wall-clock.ts';
import { createUnitQueue, type UnitQueue } from '../../events/work.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Egress } from '../../lib/egress/egress.ts';
import type { Scope } from '../../store/store.ts';
import { findDelivery, setDeliveriesBackOp } from '../deliveries/rows.ts';
import { deliveryRows, type DeliveryUnit } from '../deliveries/units.ts';
import { consumerName } from '../endpoints/subscription.ts';
import type { Subscriptions } from '../subscriptions.ts';
import { createDeliverer, type Deliverer } from './deliverer.ts';
import { createDisable } from './disable.ts';
import type { Healths } from './health.ts';
import type { EndpointQueues } from './endpoint-queues.ts';
import { createPlanner } from './planner.ts';

/** Maximum number of deliveries in memory. Concurrent attempts are limited per endpoint. */
const deliveriesInMemory = 2_000;

export interface Pipeline {
  readonly consumer: Consumer;
  readonly queue: UnitQueue<DeliveryUnit>;
  readonly deliverer: Deliverer;
}

export function createPipeline(options: {
  services: Services;
  clock: Clock;
  random: () => number;
  owner: string;
  seen: SeenTimes;
  committer: Committer;
  fresh: FreshEvents;
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  egress: Egress;
  version: string;
  subscriptions: Subscriptions;
  healths: Healths;
  endpointQueues: EndpointQueues;
}): Pipeline {
  const { services, clock, owner, subscriptions } = options;
  const { store, log, ids, baseUrl, mayWork } = services;
  const deliverer = createDeliverer({
    ...options,
    store,
    log,
    sealing: services.sealing,
    ledger: services.ledger,
    outcomeCounter: services.outcomeCounter,
    baseUrl,
    disable: createDisable({ ...options, store, ids, log }),
  });
  const queue: UnitQueue<DeliveryUnit> = createUnitQueue({
    ...{ store, clock, log, mayWork },
    kind: 'delivery',
    owner,
    seen: options.seen,
    capacity: deliveriesInMemory,
    setBack: (byMs) => [setDeliveriesBackOp(byMs)],
    perform: deliverer.perform,
    rows: deliveryRows(store, deliverer.remember, () => queue),
  });
  const consumer = createConsumer({
    ...{ store, clock, name: consumerName, log, fresh: options.fresh, queue },
    listens: subscriptions.listens,
    plan: createPlanner({ clock, baseUrl, subscriptions, deliverer, queue }),
    isStored: async (scope, id) => (await store.readOne(scope, findDelivery, { id })) !== undefined,
  });
  return { consumer, queue, deliverer };
}
