// Assembles the delivery pipeline: the consumer that plans deliveries, their queue, and the worker that
// sends them.
import type { Committer } from '../../../kernel/changes/commit.ts';
import type { Directory, Services } from '../../../kernel/context.ts';
import {
  createConsumer,
  type Consumer,
  type ConsumerOptions,
} from '../../../kernel/events/consumers/consumer.ts';
import type { FreshEvents } from '../../../kernel/events/consumers/fresh.ts';
import type { SeenTimes } from '../../../kernel/events/wall-clock.ts';
import { createUnitQueue, type UnitQueue, type WorkQueue } from '../../../kernel/events/work/queue.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Egress } from '../../../platform/lib/egress/egress.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { findDelivery, setDeliveriesBackOp, newDelivery } from '../deliveries/rows.ts';
import { deliveryRows, type DeliveryUnit, deliveryUnit } from '../deliveries/units.ts';
import { consumerName } from '../endpoints/subscription.ts';
import type { Subscriptions } from '../subscriptions.ts';
import { createDeliverer, type Deliverer } from './deliverer.ts';
import { createDisable } from './disable.ts';
import type { Healths } from './health.ts';
import type { EndpointQueues } from './endpoint-queues.ts';
import { derivedId, idPrefixes } from '../../../platform/lib/ids.ts';
import { messageOf } from '../payload.ts';

/** Maximum number of deliveries in memory. Concurrent attempts are limited per endpoint. */
const deliveriesInMemory = 2_000;

export interface Pipeline {
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
    queue,
    listens: subscriptions.listens,
    plan: createPlanner({ clock, baseUrl, subscriptions, deliverer, queue }),
    isStored: async (scope, id) => (await store.readOne(scope, findDelivery, { id })) !== undefined,
  });
  return { consumer, queue, deliverer };
}
