// Webhooks: a consumer that turns events into deliveries, and workers that make them.
import type { Committer } from '../changes/commit.ts';
import type { Directory, Services } from '../context.ts';
import { createConsumer } from '../events/consumer.ts';
import { renderEvent } from '../events/event.ts';
import { createWorkQueue, neverMs } from '../events/work.ts';
import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Egress } from '../lib/egress/egress.ts';
import type { FilterFields } from '../lib/filter.ts';
import { systemStatement } from '../store/statement.ts';
import type { Op, Scope } from '../store/store.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { queueDeliveryOps, releaseHeldBackOp } from './deliveries/rows.ts';
import { createDeliverer } from './deliver.ts';
import { endpointRoutes } from './endpoints/routes.ts';
import { endpointKind, type Endpoint } from './endpoints/schema.ts';
import { createLanes } from './lanes.ts';
import { createSubscriptions } from './subscriptions.ts';

/** Work rows in memory; the attempts in flight are bounded per endpoint. */
const concurrentDeliveries = 2_000;

const releaseAll = systemStatement(
  'deliveries.release_all',
  'what was held back for want of room in memory is looked at again at start, in all workspaces',
  "UPDATE due_work SET due_at = :now WHERE kind = 'delivery' AND due_at = :never",
);

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
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  egress: Egress;
  filterFields: (eventType: string) => FilterFields;
  version: string;
}): Webhooks {
  const { services, clock, owner, committer, egress, filterFields } = options;
  const { store, log, ids } = services;
  const lanes = createLanes();
  const subscriptions = createSubscriptions({ store, filterFields });

  const disable = async (scope: Scope, endpoint: Endpoint, reason: string): Promise<void> => {
    const change = endpointKind.update(endpoint, { enabled: false, disabledReason: reason }, clock.nowMs());
    if (!change) return;
    const author = {
      scope,
      actor: { kind: 'system' as const, id: 'webhooks', name: 'Webhooks' },
      cause: null,
      requestId: null,
      traceparent: null,
      directory: await options.directoryOf(scope),
    };
    const committed = await committer.commit(author, [change]);
    if (committed.ok)
      log('warn', 'webhook disabled', { workspaceId: scope.workspaceId, webhookId: endpoint.id, reason });
  };

  const deliverer = createDeliverer({
    store,
    clock,
    random: options.random,
    log,
    sealing: services.sealing,
    egress,
    subscriptions,
    lanes,
    baseUrl: services.baseUrl,
    version: options.version,
    disable,
  });
  const queue = createWorkQueue({
    store,
    clock,
    log,
    kind: 'delivery',
    owner,
    concurrency: concurrentDeliveries,
    perform: deliverer.perform,
  });

  const consumer = createConsumer({
    store,
    name: 'webhooks',
    log,
    async plan(scope, events) {
      const ops: Op[] = [];
      const adopted: number[] = [];
      for (const event of events) {
        const subscribers = await subscriptions.subscribers(scope, event.type);
        if (subscribers.length === 0) continue;
        const { data } = renderEvent(event);
        for (const { endpoint, wants } of subscribers) {
          // An endpoint hears of what happens from its registration on.
          if (event.createdAt < endpoint.createdAt || event.entityId === endpoint.id || !wants(data))
            continue;
          const id = ids.next('delivery');
          const delivery = {
            id,
            endpointId: endpoint.id,
            eventId: event.id,
            eventType: event.type,
            sequence: event.sequence,
          };
          ops.push(...queueDeliveryOps(queue, scope, delivery, clock.nowMs(), false));
          adopted.push(ops.length - 1);
          if (queue.leaseUntil(clock.nowMs()) > 0) deliverer.remember(id, event);
        }
      }
      return {
        ops,
        committed: (rows) =>
          queue.adopt(
            scope,
            adopted.flatMap((index) => rows[index] ?? []),
          ),
      };
    },
  });

  committer.onCommit((workspaceId, changes) => subscriptions.moveAlong(workspaceId, changes));

  return {
    routes: [
      ...endpointRoutes({
        checkUrl: egress.checkUrl,
        filterFields,
        forgive: deliverer.forgive,
        releaseOp: (scope, id) => releaseHeldBackOp(scope, id, clock.nowMs(), 10_000_000),
      }),
      ...deliveryRoutes(deliverer),
    ],
    async start() {
      await store.commit([
        { statement: releaseAll, params: { now: clock.nowMs(), never: neverMs }, scope: null },
      ]);
      await queue.start();
      await consumer.start();
    },
    async settled() {
      await consumer.settled();
      await queue.settled();
    },
    async stop() {
      await consumer.stop();
      await queue.stop();
      egress.close();
    },
  };
}
