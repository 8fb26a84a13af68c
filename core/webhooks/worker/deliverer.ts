// The worker of deliveries: takes each from the queue, waits for one of its endpoint's slots, and has its attempt made. It
// alone knows which deliveries are being attempted and which were canceled meanwhile.
import type { WorkItem, WorkQueue } from '../../events/work.ts';
import { findDelivery, type DeliveryRow } from '../deliveries/rows.ts';
import { createMessages } from '../deliveries/message.ts';
import type { Message } from '../payload.ts';
import { createSecretOpener } from '../secret.ts';
import { createCompany } from './company.ts';
import { cancel, deliver, type Delivering, type Taken } from './deliver.ts';
import { createFresh, type Fresh } from './fresh.ts';
import { createHeld } from './held.ts';
import type { Lanes } from './lanes.ts';

/** Attempts under way get this long when the process is asked to stop. */
const stopGraceMs = 5_000;

interface DelivererOptions extends Omit<Delivering, 'messages' | 'company' | 'openSecrets' | 'signal'> {
  readonly lanes: Lanes;
  readonly baseUrl: string;
}

export interface Deliverer {
  /** A delivery that has its rows. */
  perform(item: WorkItem, queue: WorkQueue): Promise<void>;
  /** A delivery that has none as yet. */
  performPlanned(item: WorkItem, queue: WorkQueue, delivery: DeliveryRow, message: Message): Promise<void>;
  /** Lets first attempts do without reading their delivery, as far as there is room to remember it. */
  readonly remember: Fresh['remember'];
  /** A delivery was canceled: where it waits in memory for its attempt, that is not made. */
  noteCanceled(id: string, queue: WorkQueue): void;
  /** An endpoint went off: none of those that wait for an attempt at it is made. */
  noteOff(endpointId: string): void;
  /** Which deliveries are being attempted. */
  active(): ReadonlySet<string>;
  /** Starts no attempt any more, and gives those under way a little time. */
  stop(): void;
}

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { store, lanes, healths, subscriptions } = options;
  const stopping = new AbortController();
  const parts: Delivering = {
    ...options,
    messages: createMessages(store, options.baseUrl),
    company: createCompany(),
    openSecrets: createSecretOpener(options.sealing),
    signal: stopping.signal,
  };
  const fresh = createFresh(parts.messages);
  const held = createHeld();

  const performInLane = async (taken: Taken): Promise<void> => {
    const { item, delivery } = taken;
    const endpointId = delivery.endpoint_id;
    if (!(await subscriptions.enabled(item.scope, endpointId))) return cancel(parts, taken);
    held.take(item.id, endpointId);
    if (!healths.isLoaded(endpointId)) await healths.load(item.scope, endpointId);
    if (!(await lanes.enter(endpointId))) return;
    try {
      if (held.isCanceled(item.id)) return await cancel(parts, taken);
      held.begin(item.id);
      await deliver(parts, taken);
    } finally {
      held.rest(item.id);
      lanes.leave(endpointId);
    }
  };

  return {
    async perform(item, queue) {
      const { scope, id } = item;
      const remembered = fresh.take(id);
      try {
        const delivery = remembered ?? (await store.readOne(scope, findDelivery, { id }));
        if (!delivery) return void (await store.commit([queue.finish(item)]));
        await performInLane({ item, queue, delivery, message: undefined });
      } finally {
        held.forget(id);
      }
    },
    async performPlanned(item, queue, delivery, message) {
      try {
        await performInLane({ item, queue, delivery, message });
      } finally {
        held.forget(item.id);
      }
    },
    remember: fresh.remember,
    noteCanceled(id, queue) {
      if (queue.isHeld(id)) held.noteCanceled(id);
    },
    noteOff: held.noteOff,
    active: held.active,
    stop() {
      lanes.close();
      const timer = setTimeout(() => stopping.abort(), stopGraceMs);
      timer.unref();
    },
  };
}
