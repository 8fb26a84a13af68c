// Worker of deliveries: takes each from the queue, waits for a slot of its endpoint and makes the attempt.
// The worker tracks in memory which deliveries are being attempted and which were canceled meanwhile.
import type { WorkItem, WorkQueue } from '../../events/work.ts';
import { findDelivery, type DeliveryRow } from '../deliveries/rows.ts';
import { createMessages } from '../deliveries/message.ts';
import type { WebhookMessage } from '../payload.ts';
import { createSecretOpener } from '../secret.ts';
import { createCommitBatch } from './commit-batch.ts';
import { cancel, deliver, type Delivering, type TakenDelivery } from './deliver.ts';
import { createFresh, type Fresh } from './fresh.ts';
import { createDeliveryTracker } from './delivery-tracker.ts';
import type { EndpointQueues } from './endpoint-queues.ts';

/** Time for running attempts after a shutdown request. */
const stopGraceMs = 5_000;

interface DelivererOptions extends Omit<Delivering, 'messages' | 'commitBatch' | 'openSecrets' | 'signal'> {
  readonly endpointQueues: EndpointQueues;
  readonly baseUrl: string;
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

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { store, endpointQueues, healths, subscriptions } = options;
  const stopping = new AbortController();
  const parts: Delivering = {
    ...options,
    messages: createMessages(store, options.baseUrl),
    commitBatch: createCommitBatch(),
    openSecrets: createSecretOpener(options.sealing),
    signal: stopping.signal,
  };
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
        const delivery = remembered ?? (await store.readOne(scope, findDelivery, { id }));
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
