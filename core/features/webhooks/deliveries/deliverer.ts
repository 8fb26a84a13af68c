// Worker of deliveries: takes each from the queue, waits for a slot of its endpoint and makes the attempt.
// The worker tracks in memory which deliveries are being attempted and which were canceled meanwhile.
import type { WorkItem, WorkQueue } from '../../../kernel/events/work/queue.ts';
import { findDelivery, type DeliveryRow } from './rows.ts';
import { createMessages, type Messages } from './message.ts';
import type { WebhookMessage } from '../payload.ts';
import { createSecretOpener } from '../endpoints/secrets.ts';
import { cancel, deliver, type Delivering, type TakenDelivery } from './deliver.ts';
import type { EndpointQueues } from './endpoint-queues.ts';
import type { Healths } from './health.ts';
import { createDisable } from '../endpoints/disable.ts';
import type { Subscriptions } from '../subscriptions.ts';
import type { WebhooksOptions } from '../runtime.ts';
import { createLru } from '../../../platform/lib/lru.ts';
import type { Scope } from '../../../platform/store/store.ts';

/** Most receivers answer within this time; slower ones are not waited for. */
const soonMs = 20;

export interface CommitBatch {
  /** Registers an attempt. Returns the function to call once it is over. */
  join(): () => void;
  /** Returns true if other attempts are likely to end soon. */
  isExpected(): boolean;
}

/**
 * Decides if the record of an attempt waits to share a commit with others. It waits only while other attempts
 * are running that started recently: waiting for hanging receivers, or for nothing, would delay the next
 * attempts.
 */
export function createCommitBatch(nowMs: () => number = () => performance.now()): CommitBatch {
  /** Running attempts in start order, except those found to be older than `soonMs`. */
  const young = new Set<{ readonly sinceMs: number }>();
  return {
    join() {
      const one = { sinceMs: nowMs() };
      young.add(one);
      return () => void young.delete(one);
    },
    isExpected() {
      const oldMs = nowMs() - soonMs;
      for (const one of young) {
        if (one.sinceMs > oldMs) return true;
        young.delete(one);
      }
      return false;
    },
  };
}

/** Time for running attempts after a shutdown request. */
const stopGraceMs = 5_000;

/** Limit of cached deliveries; others are read again. */
const rememberedMax = 20_000;

interface Fresh {
  /** @param soon true if it is attempted now; later deliveries must not evict it */
  remember(scope: Scope, delivery: DeliveryRow, message: WebhookMessage, soon: boolean): void;
  /** Returns the row and removes it from the cache. */
  take(deliveryId: string): DeliveryRow | undefined;
}

function createFresh(messages: Messages): Fresh {
  const remembered = createLru<string, DeliveryRow>(rememberedMax);
  return {
    remember(scope, delivery, message, soon) {
      messages.remember(scope, message, soon);
      if (soon || remembered.size < rememberedMax / 2) remembered.set(delivery.id, delivery);
    },
    take(deliveryId) {
      const delivery = remembered.get(deliveryId);
      remembered.delete(deliveryId);
      return delivery;
    },
  };
}

export interface Deliverer {
  /** Performs a delivery that has rows. */
  perform(item: WorkItem, queue: WorkQueue): Promise<void>;
  /** Performs a delivery without rows. */
  performPlanned(
    item: WorkItem,
    queue: WorkQueue,
    delivery: DeliveryRow,
    message: WebhookMessage,
  ): Promise<void>;
  /** Caches stored deliveries, so that their first attempts need not read them. */
  readonly remember: Fresh['remember'];
  /** Prevents the attempt of a canceled delivery that waits in memory. */
  noteCanceled(id: string, queue: WorkQueue): void;
  /** Prevents all waiting attempts at a disabled endpoint. */
  noteOff(endpointId: string): void;
  /** Returns the deliveries being attempted. */
  active(): ReadonlySet<string>;
  /** Starts no further attempts, and gives running ones a short time to end. */
  stop(): void;
}

/**
 * Tracks which deliveries in memory wait for their attempt, are being attempted, or must not be attempted.
 * The queue bounds its size, because only its deliveries are tracked.
 */
interface DeliveryTracker {
  /** Registers a delivery in memory until `forget`. */
  take(id: string, endpointId: string): void;
  forget(id: string): void;
  /** Marks the attempt as running until `rest`. */
  begin(id: string): void;
  rest(id: string): void;
  isCanceled(id: string): boolean;
  /** Marks a delivery as canceled; if it waits, its attempt is not made. */
  noteCanceled(id: string): void;
  /** Marks all waiting deliveries of a disabled endpoint as canceled. */
  noteOff(endpointId: string): void;
  active(): ReadonlySet<string>;
}

function createDeliveryTracker(): DeliveryTracker {
  const endpointOf = new Map<string, string>();
  const active = new Set<string>();
  const canceled = new Set<string>();
  const noteCanceled = (id: string): void => {
    if (!active.has(id)) canceled.add(id);
  };
  return {
    take: (id, endpointId) => void endpointOf.set(id, endpointId),
    forget(id) {
      endpointOf.delete(id);
      canceled.delete(id);
    },
    begin: (id) => void active.add(id),
    rest: (id) => void active.delete(id),
    isCanceled: (id) => canceled.has(id),
    noteCanceled,
    noteOff(endpointId) {
      for (const [id, of] of endpointOf) if (of === endpointId) noteCanceled(id);
    },
    active: () => active,
  };
}

function partsOf(
  options: WebhooksOptions,
  subscriptions: Subscriptions,
  healths: Healths,
  signal: AbortSignal,
): Delivering {
  const { services, clock, random, egress, version } = options;
  return {
    services,
    clock,
    random,
    egress,
    version,
    subscriptions,
    healths,
    disable: createDisable(options, subscriptions),
    messages: createMessages(services.store, services.baseUrl),
    commitBatch: createCommitBatch(),
    openSecrets: createSecretOpener(services.sealing),
    signal,
  };
}

export function createDeliverer(
  options: WebhooksOptions,
  subscriptions: Subscriptions,
  healths: Healths,
  endpointQueues: EndpointQueues,
): Deliverer {
  const { store } = options.services;
  const stopping = new AbortController();
  const parts = partsOf(options, subscriptions, healths, stopping.signal);
  const fresh = createFresh(parts.messages);
  const tracker = createDeliveryTracker();

  const performInSlot = async (taken: TakenDelivery): Promise<void> => {
    const { item, delivery } = taken;
    const endpointId = delivery.endpoint_id;
    if (!(await subscriptions.enabled(item.scope, endpointId))) return cancel(parts, taken);
    tracker.take(item.id, endpointId);
    if (!healths.isLoaded(endpointId)) await healths.load(item.scope, endpointId);
    if (!(await endpointQueues.enter(endpointId))) return;
    try {
      if (tracker.isCanceled(item.id)) return await cancel(parts, taken);
      tracker.begin(item.id);
      await deliver(parts, taken);
    } finally {
      tracker.rest(item.id);
      endpointQueues.leave(endpointId);
    }
  };

  return {
    async perform(item, queue) {
      const { scope, id } = item;
      const remembered = fresh.take(id);
      try {
        const delivery = remembered ?? (await findDelivery.one(store, scope, { id }));
        if (!delivery) return void (await store.commit([queue.finish(item)]));
        await performInSlot({ item, queue, delivery, message: undefined });
      } finally {
        tracker.forget(id);
      }
    },
    async performPlanned(item, queue, delivery, message) {
      try {
        await performInSlot({ item, queue, delivery, message });
      } finally {
        tracker.forget(item.id);
      }
    },
    remember: fresh.remember,
    noteCanceled(id, queue) {
      if (queue.isActive(id)) tracker.noteCanceled(id);
    },
    noteOff: tracker.noteOff,
    active: tracker.active,
    stop() {
      endpointQueues.close();
      const timer = setTimeout(() => stopping.abort(), stopGraceMs);
      timer.unref();
    },
  };
}
