// Performs deliveries: one signed POST through the egress guard, recorded with what came back, in the batch that moves the
// delivery on. Spec › States and transitions, Webhook delivery lifecycle.
import type { EventRow } from '../events/event.ts';
import { findEvent } from '../events/log.ts';
import type { WorkItem, WorkQueue } from '../events/work.ts';
import { neverMs } from '../events/work.ts';
import type { Clock } from '../lib/clock.ts';
import type { Egress, EgressResponse } from '../lib/egress/egress.ts';
import { EgressError } from '../lib/egress/error.ts';
import type { Log } from '../lib/log.ts';
import type { Sealing } from '../lib/sealing.ts';
import type { Op, Scope, Store } from '../store/store.ts';
import {
  findDelivery,
  moveDeliveryOp,
  readHealth,
  recordAttemptOp,
  releaseHeldBackOp,
  writeHealthOp,
  type Attempt,
  type DeliveryMove,
  type DeliveryRow,
  type EndpointHealth,
} from './deliveries/rows.ts';
import type { Endpoint } from './endpoints/schema.ts';
import type { Lanes } from './lanes.ts';
import { payloadOf } from './payload.ts';
import { nextAttempt, parseRetryAfterMs } from './schedule.ts';
import { openSecret } from './secret.ts';
import { signatureHeaders } from './signature.ts';
import type { Subscriptions } from './subscriptions.ts';

const connectTimeoutMs = 5_000;
const totalTimeoutMs = 15_000;
const responseBytesMax = 64 * 1024;
/** Straight failures after which an endpoint is tried one delivery at a time. */
const probeAfter = 10;
/** Nothing but failure for this long switches an endpoint off. */
const disableAfterMs = 120 * 3_600_000;

export interface DelivererOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly sealing: Sealing;
  readonly egress: Egress;
  readonly subscriptions: Subscriptions;
  readonly lanes: Lanes;
  readonly baseUrl: string;
  readonly version: string;
  /** Commits an endpoint's being switched off, with its event. */
  readonly disable: (scope: Scope, endpoint: Endpoint, reason: string) => Promise<void>;
}

export interface Deliverer {
  perform(item: WorkItem, queue: WorkQueue): Promise<void>;
  /** Keeps an event for the first attempt of its deliveries. */
  remember(deliveryId: string, event: EventRow): void;
  isActive(deliveryId: string): boolean;
  /** The ops and the memory of an endpoint that is switched on again: its failures are forgiven. */
  forgive(scope: Scope, endpointId: string): Op;
}

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { store, clock, lanes, subscriptions } = options;
  const events = new Map<string, EventRow>();
  const active = new Set<string>();
  const healths = new Map<string, EndpointHealth>();

  const healthOf = async (scope: Scope, endpointId: string): Promise<EndpointHealth> => {
    const known = healths.get(endpointId);
    if (known) return known;
    const row = await store.readOne(scope, readHealth, { id: endpointId });
    const health = { failures: row?.failures ?? 0, failingSince: row?.failing_since ?? null };
    healths.set(endpointId, health);
    lanes.setProbing(endpointId, health.failures >= probeAfter);
    return health;
  };

  /** The ops that note how an attempt went; none when an endpoint that worked goes on working. */
  const noteHealth = (scope: Scope, endpointId: string, worked: boolean, now: number): Op[] => {
    const before = healths.get(endpointId) ?? { failures: 0, failingSince: null };
    if (worked && before.failures === 0) return [];
    const after = worked
      ? { failures: 0, failingSince: null }
      : { failures: before.failures + 1, failingSince: before.failingSince ?? now };
    healths.set(endpointId, after);
    lanes.setProbing(endpointId, after.failures >= probeAfter);
    return [writeHealthOp(scope, endpointId, after)];
  };

  const attempt = async (delivery: DeliveryRow, endpoint: Endpoint, scope: Scope, event: EventRow) => {
    const payload = payloadOf(event, options.baseUrl);
    const at = clock.nowMs();
    const secret = openSecret(options.sealing, scope.workspaceId, endpoint.id, endpoint.secretSealed);
    const headers: Record<string, string> = {
      'Content-Type': 'application/json',
      'User-Agent': `Tatami-Webhooks/${options.version}`,
      'X-Webhook-Event': event.type,
      ...signatureHeaders({
        secrets: [secret],
        payload,
        timestampSeconds: Math.floor(at / 1000),
        deliveryId: delivery.id,
        eventId: event.id,
      }),
      ...(event.traceparent === null ? {} : { traceparent: event.traceparent }),
    };
    const started = performance.now();
    let response: EgressResponse | null = null;
    let error: string | null = null;
    try {
      response = await options.egress.send({
        url: endpoint.url,
        method: 'POST',
        headers,
        body: payload,
        connectTimeoutMs,
        totalTimeoutMs,
        responseBytesMax,
      });
      if (response.status < 200 || response.status > 299)
        error = `The receiver answered ${response.status}${response.status >= 300 && response.status < 400 ? '; redirects are not followed' : ''}.`;
    } catch (failure) {
      if (!(failure instanceof EgressError)) throw failure;
      error = failure.message;
    }
    const record: Attempt = {
      number: delivery.attempts + 1,
      at,
      latencyMs: response?.latencyMs ?? performance.now() - started,
      statusCode: response?.status ?? null,
      error,
      requestHeaders: headers,
      responseHeaders: response?.headers ?? null,
      responseBody: response?.body ?? null,
      truncated: response?.truncated ?? false,
    };
    return { record, response, worked: error === null };
  };

  /** What becomes of a delivery after a failed attempt. */
  const afterFailure = (
    delivery: DeliveryRow,
    record: Attempt,
    response: EgressResponse | null,
  ): DeliveryMove => {
    const now = clock.nowMs();
    const firstAttemptAt = delivery.first_attempt_at ?? record.at;
    const header = response?.headers['retry-after'];
    const retryAfterMs = parseRetryAfterMs(Array.isArray(header) ? header[0] : header, now);
    const next = nextAttempt({
      attempt: record.number,
      firstAttemptAtMs: firstAttemptAt,
      nowMs: now,
      random: options.random,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    const made = { attempts: record.number, firstAttemptAt };
    return next === 'parked'
      ? { ...made, status: 'failed', nextAttemptAt: null, finishedAt: now }
      : { ...made, status: 'retrying', nextAttemptAt: next.atMs, finishedAt: null };
  };

  const cancel = async (item: WorkItem, queue: WorkQueue, delivery: DeliveryRow): Promise<void> => {
    const to: DeliveryMove = {
      status: 'canceled',
      attempts: delivery.attempts,
      firstAttemptAt: delivery.first_attempt_at,
      nextAttemptAt: null,
      finishedAt: clock.nowMs(),
    };
    events.delete(item.id);
    await store.commit([queue.finish(item), moveDeliveryOp(item.scope, delivery.id, to)]);
  };

  const deliver = async (item: WorkItem, queue: WorkQueue, delivery: DeliveryRow): Promise<void> => {
    const { scope } = item;
    const endpoint = await subscriptions.enabled(scope, delivery.endpoint_id);
    const event = events.get(item.id) ?? (await findEvent(store, scope, delivery.event_id));
    if (!endpoint || !event) return cancel(item, queue, delivery);
    const { record, response, worked } = await attempt(delivery, endpoint, scope, event);
    const now = clock.nowMs();
    const to: DeliveryMove = worked
      ? {
          status: 'delivered',
          attempts: record.number,
          firstAttemptAt: delivery.first_attempt_at ?? record.at,
          nextAttemptAt: null,
          finishedAt: now,
        }
      : afterFailure(delivery, record, response);
    const outcome = await store.commit([
      to.nextAttemptAt === null ? queue.finish(item) : queue.defer(item, to.nextAttemptAt),
      moveDeliveryOp(scope, delivery.id, to),
      recordAttemptOp(scope, delivery.id, record),
      ...noteHealth(scope, endpoint.id, worked, now),
    ]);
    if (to.nextAttemptAt === null || !outcome.ok) events.delete(item.id);
    if (!outcome.ok)
      return options.log('warn', 'a delivery was ended elsewhere', {
        deliveryId: delivery.id,
        reason: outcome.message,
      });
    if (to.nextAttemptAt !== null) queue.wake();
    const { failingSince } = healths.get(endpoint.id) ?? { failingSince: null };
    if (response?.status === 410) await options.disable(scope, endpoint, 'The receiver answered 410 Gone.');
    else if (!worked && failingSince !== null && now - failingSince >= disableAfterMs)
      await options.disable(scope, endpoint, 'Nothing but failed deliveries for 120 hours.');
  };

  /** Makes held back deliveries due once an endpoint has room for them. */
  const fillLane = async (scope: Scope, endpointId: string, queue: WorkQueue): Promise<void> => {
    const room = lanes.room(endpointId);
    if (room === 0) return;
    // Said before the look, so that what is held back meanwhile is not forgotten.
    lanes.noteNoneHeldBack(endpointId);
    const outcome = await store.commit([releaseHeldBackOp(scope, endpointId, clock.nowMs(), room)]);
    if (!outcome.ok || (outcome.rows[0]?.length ?? 0) > 0) lanes.noteHeldBack(endpointId);
    queue.wake();
  };

  return {
    async perform(item, queue) {
      const delivery = await store.readOne(item.scope, findDelivery, { id: item.id });
      if (!delivery) return void (await store.commit([queue.finish(item)]));
      const endpointId = delivery.endpoint_id;
      await healthOf(item.scope, endpointId);
      if (!lanes.hold(endpointId)) {
        await store.commit([queue.defer(item, neverMs)]);
        lanes.noteHeldBack(endpointId);
        return fillLane(item.scope, endpointId, queue);
      }
      await lanes.enter(endpointId);
      active.add(item.id);
      try {
        await deliver(item, queue, delivery);
      } finally {
        active.delete(item.id);
        lanes.leave(endpointId);
        lanes.drop(endpointId);
        await fillLane(item.scope, endpointId, queue);
      }
    },
    remember: (deliveryId, event) => void events.set(deliveryId, event),
    isActive: (deliveryId) => active.has(deliveryId),
    forgive(scope, endpointId) {
      const health = { failures: 0, failingSince: null };
      healths.set(endpointId, health);
      lanes.setProbing(endpointId, false);
      return writeHealthOp(scope, endpointId, health);
    },
  };
}
