// Webhooks: a consumer that turns events into deliveries, workers that make them and replays, and their routes.
import type { Change } from '../changes/change.ts';
import type { Committer } from '../changes/commit.ts';
import type { WorkspaceCache } from '../changes/workspace-cache.ts';
import type { Directory, Services } from '../context.ts';
import type { FreshEvents } from '../events/fresh.ts';
import type { Progress } from '../events/progress.ts';
import type { Streams } from '../events/stream/streams.ts';
import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Egress } from '../lib/egress/egress.ts';
import type { FilterFields } from '../lib/filter.ts';
import type { Scope } from '../store/store.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { endpointResource } from './endpoints/routes.ts';
import { endpointKind, isForgiven, type Endpoint } from './endpoints/kind.ts';
import { createReplays, type Replays } from './replays/queue.ts';
import { replayRoutes } from './replays/routes.ts';
import { sampleRoutes } from './samples/routes.ts';
import { createSamples, type SentEvent } from './samples/samples.ts';
import { createSubscriptions } from './subscriptions.ts';
import { createHealths, type Healths } from './worker/health.ts';
import { createLanes } from './worker/lanes.ts';
import { createPipeline, type Pipeline } from './worker/pipeline.ts';

export interface Webhooks {
  readonly routes: readonly Route[];
  start(): Promise<void>;
  settled(): Promise<void>;
  /** Of its consumer. */
  progress(): Progress;
  stop(): Promise<void>;
}

interface WebhooksOptions {
  readonly services: Services;
  readonly clock: Clock;
  readonly random: () => number;
  readonly owner: string;
  readonly committer: Committer;
  readonly fresh: FreshEvents;
  readonly cache: WorkspaceCache;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly egress: Egress;
  readonly filterFields: (eventType: string) => FilterFields;
  readonly sentEvents: readonly SentEvent[];
  readonly streams: Streams;
  readonly version: string;
}

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { clock, owner, filterFields } = options;
  const { store, log, ids, turns, mayWork } = options.services;
  const healths = createHealths(store);
  const lanes = createLanes(healths.isProbing);
  const subscriptions = createSubscriptions({ store, cache: options.cache, log, turns, filterFields });
  const pipeline = createPipeline({ ...options, subscriptions, healths, lanes });
  const { consumer, queue, deliverer } = pipeline;
  const replays = createReplays({
    ...{ store, clock, log, ids, owner, mayWork, subscriptions, deliveries: queue },
    storeWork: consumer.storeWork,
  });

  options.committer.onCommit((_workspaceId, changes) => {
    for (const endpointId of forgivenIn(changes)) {
      healths.forgive(endpointId);
      lanes.admit(endpointId);
    }
  });

  return {
    routes: routesOf(options, healths, pipeline, replays),
    async start() {
      await queue.start();
      await consumer.start();
      await replays.queue.start();
    },
    async settled() {
      // A delivery may switch its endpoint off, which is an event that is delivered to other endpoints.
      for (let rounds = 0; rounds < 2; rounds++) {
        await consumer.settled();
        await replays.queue.settled();
        await queue.settled();
      }
      await consumer.storeMarks();
    },
    progress: consumer.progress,
    async stop() {
      await Promise.all([consumer.stop(), replays.stop()]);
      deliverer.stop();
      await queue.stop();
      await consumer.storeMarks();
      options.egress.close();
    },
  };
}

/** The endpoints whose past failures say nothing any more. */
function forgivenIn(changes: readonly Change[]): string[] {
  return changes
    .filter(
      ({ kind, before, after }) =>
        kind === endpointKind.name && before !== null && isForgiven(before as Endpoint, after as Endpoint),
    )
    .map(({ after }) => after.id);
}

function routesOf(
  { egress, filterFields, sentEvents, streams }: WebhooksOptions,
  healths: Healths,
  { consumer, deliverer, queue }: Pipeline,
  replays: Replays,
): readonly Route[] {
  const { storeWork } = consumer;
  const work = { active: deliverer.active, noteCanceled: deliverer.noteCanceled, storeWork, queue };
  return [
    ...endpointResource({
      checkUrl: egress.checkUrl,
      filterFields,
      forgiveOp: healths.forgiveOp,
      lastSucceededAt: healths.lastSucceededAt,
    }).routes,
    ...deliveryRoutes(work),
    ...replayRoutes(replays.queue),
    ...sampleRoutes(createSamples(sentEvents), work, streams),
  ];
}
