// Performs deliveries: one signed POST, recorded with what came back, in the batch that moves the delivery on. Spec › States
// and transitions, Webhook delivery lifecycle.
import { LRUCache } from 'lru-cache';
import type { WorkItem, WorkQueue } from '../events/work.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Clock } from '../lib/clock.ts';
import type { Egress } from '../lib/egress/egress.ts';
import type { Log } from '../lib/log.ts';
import type { Sealing } from '../lib/sealing.ts';
import type { Row } from '../store/statement.ts';
import { backgroundPatienceMs, type CommitOutcome, type Op, type Scope, type Store } from '../store/store.ts';
import { attempt, type Attempted } from './attempt.ts';
import { createCompany } from './company.ts';
import { createMessages } from './deliveries/message.ts';
import { freeNextOp, isOrdered } from './deliveries/order.ts';
import {
  cancelDeliveryOp,
  findDelivery,
  moveDeliveryOp,
  noteLateAttemptOps,
  recordAttemptOp,
  type DeliveryMove,
  type DeliveryRow,
} from './deliveries/rows.ts';
import { openAddress } from './endpoints/address.ts';
import type { Endpoint } from './endpoints/schema.ts';
import type { Healths } from './health.ts';
import type { Lanes } from './lanes.ts';
import type { Message } from './payload.ts';
import { nextAttempt, parseRetryAfterMs } from './schedule.ts';
import { createSecretOpener } from './secret.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Deliveries remembered for their first attempts; what finds no room is read again. */
const freshMax = 20_000;
/** Attempts under way get this long when the process is asked to stop. */
const stopGraceMs = 5_000;

export interface DelivererOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly sealing: Sealing;
  readonly egress: Egress;
  readonly subscriptions: Subscriptions;
  readonly lanes: Lanes;
  readonly ledger: Ledger;
  readonly healths: Healths;
  readonly baseUrl: string;
  readonly version: string;
  /** Commits the ops together with the endpoint's being switched off. */
  disable(scope: Scope, endpointId: string, reason: string, ops: readonly Op[]): Promise<CommitOutcome>;
}

export interface Fresh {
  readonly delivery: DeliveryRow;
  readonly message: Message;
}

export interface Deliverer {
  perform(item: WorkItem, queue: WorkQueue): Promise<void>;
  /** Takes over new deliveries by their work rows. First attempts are spared the reads, as far as there is room to remember. */
  adopt(scope: Scope, added: readonly Fresh[], rows: readonly Row[], queue: WorkQueue): void;
  /** A delivery was canceled: if it waits for its attempt in memory, none is made. */
  noteCanceled(id: string, queue: WorkQueue): void;
  /** Which deliveries are being attempted. */
  active(): ReadonlySet<string>;
  /** Starts no attempt any more, and gives those under way a little time. */
  stop(): void;
}

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { store, clock, lanes, healths, subscriptions } = options;
  const fresh = new LRUCache<string, DeliveryRow>({ max: freshMax });
  const active = new Set<string>();
  const company = createCompany();
  const openSecrets = createSecretOpener(options.sealing);
  const messages = createMessages(store, options.baseUrl);
  /** Canceled while they wait in memory. */
  const canceled = new Set<string>();
  const stopping = new AbortController();

  /** Where an attempt leaves its delivery. */
  const moveAfter = async (
    scope: Scope,
    delivery: DeliveryRow,
    { record, response, worked }: Attempted,
  ): Promise<DeliveryMove> => {
    const now = clock.nowMs();
    const firstAttemptAt = delivery.first_attempt_at ?? record.at;
    const ended = { attempts: record.number, firstAttemptAt, nextAttemptAt: null, finishedAt: now };
    if (worked) return { ...ended, status: 'delivered' };
    if (response?.status === 410) return { ...ended, status: 'failed' };
    if (!(await subscriptions.enabled(scope, delivery.endpoint_id))) return { ...ended, status: 'canceled' };
    const header = response?.headers['retry-after'];
    const retryAfterMs = parseRetryAfterMs(Array.isArray(header) ? header[0] : header, now);
    const next = nextAttempt({
      attempt: record.number,
      firstAttemptAtMs: firstAttemptAt,
      nowMs: now,
      random: options.random,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    return next === 'parked'
      ? { ...ended, status: 'failed' }
      : { ...ended, status: 'retrying', nextAttemptAt: next.atMs, finishedAt: null };
  };

  /** Those of its key wait for its end. */
  const freeNext = (scope: Scope, delivery: DeliveryRow, queue: WorkQueue): Op[] =>
    isOrdered(delivery) ? [freeNextOp(queue, scope, delivery, clock.nowMs())] : [];

  const cancel = async (item: WorkItem, queue: WorkQueue, delivery: DeliveryRow): Promise<void> => {
    const { scope } = item;
    const ops = [queue.finish(item), cancelDeliveryOp(scope, delivery.id, clock.nowMs())];
    const outcome = await store.commit([...ops, ...freeNext(scope, delivery, queue)]);
    if (outcome.ok) queue.adopt(scope, outcome.rows[ops.length] ?? []);
  };

  /** Its delivery was ended elsewhere while it was under way: it is told where that was a cancellation. */
  const tellLate = async (
    scope: Scope,
    delivery: DeliveryRow,
    { record, worked }: Attempted,
  ): Promise<void> => {
    const told = await store.commit(noteLateAttemptOps(scope, delivery.id, record, worked));
    if (!told.ok) options.log('warn', 'a delivery was ended elsewhere', { deliveryId: delivery.id });
  };

  const attemptAt = (scope: Scope, endpoint: Endpoint, delivery: DeliveryRow, message: Message) =>
    attempt(
      { clock, egress: options.egress, version: options.version, signal: stopping.signal },
      {
        id: delivery.id,
        number: delivery.attempts + 1,
        url: openAddress(options.sealing, scope.workspaceId, endpoint),
        secrets: openSecrets(scope.workspaceId, endpoint, clock.nowMs()),
      },
      message,
    );

  const deliver = async (item: WorkItem, queue: WorkQueue, delivery: DeliveryRow): Promise<void> => {
    const { scope } = item;
    const endpoint = await subscriptions.enabled(scope, delivery.endpoint_id);
    const message = endpoint && (await messages.of(scope, delivery));
    if (!endpoint || !message) return void (await cancel(item, queue, delivery));
    const leave = company.join();
    const attempted = await attemptAt(scope, endpoint, delivery, message).finally(leave);
    // Its lease ends with this process; the next one makes the attempt.
    if (!attempted) return;
    options.ledger.chargeAll(scope, { deliveries: 1, bytesOut: message.payload.length });
    const to = await moveAfter(scope, delivery, attempted);
    const now = clock.nowMs();
    const ops = [
      to.nextAttemptAt === null ? queue.finish(item) : queue.defer(item, to.nextAttemptAt),
      moveDeliveryOp(scope, delivery.id, to),
      recordAttemptOp(scope, delivery.id, attempted.record),
      ...healths.note(scope, endpoint.id, attempted.worked, now),
    ];
    const next = to.nextAttemptAt === null ? freeNext(scope, delivery, queue) : [];
    const reason = attempted.worked ? null : reasonToDisable(attempted, endpoint.id, now);
    const outcome = await (reason === null
      ? store.commit([...ops, ...next], { patienceMs: company.isExpected() ? backgroundPatienceMs : 0 })
      : options.disable(scope, endpoint.id, reason, [...ops, ...next]));
    if (!outcome.ok) return await tellLate(scope, delivery, attempted);
    if (next.length > 0) queue.adopt(scope, outcome.rows[ops.length] ?? []);
    if (to.nextAttemptAt !== null) queue.wake();
  };

  const reasonToDisable = ({ response }: Attempted, endpointId: string, nowMs: number): string | null => {
    if (response?.status === 410) return 'The receiver answered 410 Gone.';
    return healths.isHopeless(endpointId, nowMs) ? 'Nothing but failed deliveries for 120 hours.' : null;
  };

  const performInLane = async (item: WorkItem, queue: WorkQueue, delivery: DeliveryRow): Promise<void> => {
    const { scope } = item;
    const endpointId = delivery.endpoint_id;
    if (!(await subscriptions.enabled(scope, endpointId))) return void (await cancel(item, queue, delivery));
    await healths.load(scope, endpointId);
    if (!(await lanes.enter(endpointId))) return;
    active.add(item.id);
    try {
      if (!canceled.has(item.id)) await deliver(item, queue, delivery);
    } finally {
      active.delete(item.id);
      lanes.leave(endpointId);
    }
  };

  return {
    async perform(item, queue) {
      const { scope, id } = item;
      const remembered = fresh.get(id);
      fresh.delete(id);
      try {
        const delivery = remembered ?? (await store.readOne(scope, findDelivery, { id }));
        if (!delivery) return void (await store.commit([queue.finish(item)]));
        await performInLane(item, queue, delivery);
      } finally {
        canceled.delete(id);
      }
    },
    adopt(scope, added, rows, queue) {
      const isLeased = new Set(rows.filter((row) => Number(row.lease_until) > 0).map(({ id }) => String(id)));
      for (const { delivery, message } of added) {
        const soon = isLeased.has(delivery.id);
        messages.remember(scope, message, soon);
        // What is held back comes after all that is remembered already, and must not push that out.
        if (soon || fresh.size < freshMax / 2) fresh.set(delivery.id, delivery);
      }
      queue.adopt(scope, rows);
    },
    noteCanceled(id, queue) {
      if (queue.isHeld(id) && !active.has(id)) canceled.add(id);
    },
    active: () => active,
    stop() {
      lanes.close();
      const timer = setTimeout(() => stopping.abort(), stopGraceMs);
      timer.unref();
    },
  };
}
