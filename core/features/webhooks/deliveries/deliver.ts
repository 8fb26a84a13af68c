// Makes the due attempt of a delivery: one signed POST, recorded in the batch that moves the delivery to its next
// state. Spec: docs/spec/webhooks.md › States.
import type { WorkItem, WorkQueue } from '../../../kernel/events/work/queue.ts';
import type { Services } from '../../../kernel/context.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Egress } from '../../../platform/lib/egress/egress.ts';
import { backgroundCommitDelayMs, type Op, type Scope } from '../../../platform/store/store.ts';
import { attempt, type Attempted } from '../attempt.ts';
import type { Messages } from './message.ts';
import { freeNextOp, isOrdered } from './queue.ts';
import {
  cancelDeliveryOp,
  endedDeliveryOp,
  moveDeliveryOp,
  noteLateAttemptOps,
  recordAttemptOp,
  type DeliveryMove,
  type DeliveryRow,
} from './rows.ts';
import { openAddress, type OpenSecrets } from '../endpoints/secrets.ts';
import type { Endpoint } from '../endpoints/model.ts';
import type { WebhookMessage } from '../payload.ts';
import type { Subscriptions } from '../subscriptions.ts';
import type { CommitBatch } from './deliverer.ts';
import type { DisableEndpoint } from '../endpoints/disable.ts';
import type { Healths } from './health.ts';

/** Parts of the delivery worker. */
export interface Delivering {
  readonly services: Services;
  readonly clock: Clock;
  readonly random: () => number;
  readonly egress: Egress;
  readonly version: string;
  readonly subscriptions: Subscriptions;
  readonly healths: Healths;
  readonly disable: DisableEndpoint;
  readonly messages: Messages;
  readonly commitBatch: CommitBatch;
  readonly openSecrets: OpenSecrets;
  /** Aborts attempts when the process ends. */
  readonly signal: AbortSignal;
}

export interface TakenDelivery {
  readonly item: WorkItem;
  readonly queue: WorkQueue;
  readonly delivery: DeliveryRow;
  /** Undefined if the message has to be read. */
  readonly message: WebhookMessage | undefined;
}

export async function deliver(parts: Delivering, taken: TakenDelivery): Promise<void> {
  const { delivery } = taken;
  const { scope } = taken.item;
  const endpoint = await parts.subscriptions.enabled(scope, delivery.endpoint_id);
  const message = endpoint && (taken.message ?? (await parts.messages.of(scope, delivery)));
  if (!endpoint || !message) return cancel(parts, taken);
  const attempted = await attemptInBatch(parts, scope, endpoint, delivery, message);
  // The attempt was aborted. The lease ends with this process, and the next process makes the attempt.
  if (!attempted) return;
  parts.services.ledger.chargeAll(scope, { deliveries: 1, bytesOut: message.payload.length });
  await record(parts, taken, attempted);
}

/** Ends a delivery whose endpoint is disabled or deleted, or whose event was deleted. */
export async function cancel(
  { services: { store }, clock }: Delivering,
  { item, queue, delivery }: TakenDelivery,
): Promise<void> {
  const { scope } = item;
  const canceled = {
    status: 'canceled' as const,
    attempts: delivery.attempts,
    first_attempt_at: delivery.first_attempt_at,
    next_attempt_at: null,
  };
  const { ok } = await queue.whileSealed(item, () => {
    const now = clock.nowMs();
    if (item.epoch === null)
      return store.commit([
        queue.ending(item, endedDeliveryOp(scope, delivery, { ...canceled, finished_at: now })),
      ]);
    return store.commit([
      queue.finish(item),
      cancelDeliveryOp(scope, delivery.id, now),
      ...freeNext(scope, delivery, queue, now),
    ]);
  });
  if (!ok) queue.drop(item);
}

async function attemptInBatch(
  { services, clock, egress, version, signal, openSecrets, commitBatch }: Delivering,
  scope: Scope,
  endpoint: Endpoint,
  delivery: DeliveryRow,
  message: WebhookMessage,
): Promise<Attempted | null> {
  const leave = commitBatch.join();
  try {
    return await attempt(
      { clock, egress, version, signal },
      {
        id: delivery.id,
        number: delivery.attempts + 1,
        url: openAddress(services.sealing, scope.workspaceId, endpoint),
        secrets: openSecrets(scope.workspaceId, endpoint, clock.nowMs()),
      },
      message,
    );
  } finally {
    leave();
  }
}

const gone = 410;

/**
 * Retry schedule of failed deliveries: fixed offsets from the first attempt, so that the time of the final
 * attempt never moves (docs/spec/webhooks.md › Retries). Pure: clock and random source are arguments.
 */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Offsets of all attempts from the first one. */
export const ATTEMPT_OFFSETS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  24 * HOUR_MS,
];
export const RETRY_HORIZON_MS = 24 * HOUR_MS;

const JITTER_MAX = 0.1;
/** The first attempt may take up to 15 s, so the 5 s retry can be overdue when it ends; it is then due at once. */
const FIRST_RETRY_OVERDUE_MAX_MS = MINUTE_MS;

interface FailedAttempt {
  /** Number of attempts made, including the failed one: 1 after the first. */
  attempt: number;
  firstAttemptAtMs: number;
  nowMs: number;
  /** Delay requested by the receiver, from now. */
  retryAfterMs?: number;
  /** Uniform in [0, 1). */
  random: () => number;
}

/**
 * Returns the time of the next attempt, never before now and never later than 24 h after the first; `parked` if none
 * is left. `Retry-After` can only delay an attempt, at most to the final one at exactly 24 h.
 */
export function nextAttempt(failed: FailedAttempt): { atMs: number } | 'parked' {
  const { attempt, nowMs } = failed;
  // A first attempt in the future was recorded before the clock was set back.
  const firstAttemptAtMs = Math.min(failed.firstAttemptAtMs, nowMs);
  const finalAtMs = firstAttemptAtMs + RETRY_HORIZON_MS;
  if (nowMs >= finalAtMs) return 'parked';
  // Other missed offsets (server down, endpoint being probed) are skipped, because making up for them would
  // cause a burst of attempts.
  const overdueMaxMs = attempt === 1 ? FIRST_RETRY_OVERDUE_MAX_MS : 0;
  const elapsedMs = nowMs - firstAttemptAtMs;
  const offsetMs = ATTEMPT_OFFSETS_MS.slice(attempt).find(
    (candidateMs) => candidateMs > elapsedMs - overdueMaxMs,
  );
  if (offsetMs === undefined) return 'parked';
  const jitterMs = Math.floor(offsetMs * JITTER_MAX * failed.random());
  const dueAtMs = Math.max(firstAttemptAtMs + offsetMs + jitterMs, nowMs, nowMs + (failed.retryAfterMs ?? 0));
  // The horizon also limits the jitter of the final attempt.
  return { atMs: Math.min(dueAtMs, finalAtMs) };
}

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3): seconds or an HTTP date. Returns undefined if it is absent, malformed or in
 * the past.
 */
export function parseRetryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND_MS;
  // Only the format that HTTP prescribes: Date.parse would accept "1" or "next" as years.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined;
  const delayMs = Date.parse(text) - nowMs;
  return delayMs > 0 ? delayMs : undefined;
}

async function moveAfter(
  { clock, random, subscriptions }: Delivering,
  scope: Scope,
  delivery: DeliveryRow,
  { record, response, worked }: Attempted,
): Promise<DeliveryMove> {
  const now = clock.nowMs();
  const firstAttemptAt = delivery.first_attempt_at ?? record.at;
  const ended = {
    attempts: record.number,
    first_attempt_at: firstAttemptAt,
    next_attempt_at: null,
    finished_at: now,
  };
  if (worked) return { ...ended, status: 'delivered' };
  if (response?.status === gone) return { ...ended, status: 'failed' };
  if (!(await subscriptions.enabled(scope, delivery.endpoint_id))) return { ...ended, status: 'canceled' };
  const retryAfterMs = parseRetryAfterMs(response?.headers['retry-after'], now);
  const next = nextAttempt({
    attempt: record.number,
    firstAttemptAtMs: firstAttemptAt,
    nowMs: now,
    random,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
  return next === 'parked'
    ? { ...ended, status: 'failed' }
    : { ...ended, status: 'retrying', next_attempt_at: next.atMs, finished_at: null };
}

/** Call after the endpoint's health has counted the attempt. @returns null if the endpoint stays enabled */
function reasonToDisable(
  healths: Healths,
  endpointId: string,
  { response, worked }: Attempted,
  nowMs: number,
): string | null {
  if (worked) return null;
  if (response?.status === gone) return 'The receiver answered 410 Gone.';
  return healths.isHopeless(endpointId, nowMs) ? 'All deliveries have failed for 120 hours.' : null;
}

/**
 * Commits in one batch: the end of the lease or the next due time, the delivery, the attempt and the endpoint's
 * health.
 */
async function record(parts: Delivering, taken: TakenDelivery, attempted: Attempted): Promise<void> {
  const { services, healths, commitBatch } = parts;
  const { item, queue, delivery } = taken;
  const { scope } = item;
  const endpointId = delivery.endpoint_id;
  const moved = await moveAfter(parts, scope, delivery, attempted);
  if (!healths.isLoaded(endpointId)) await healths.load(scope, endpointId);
  const now = parts.clock.nowMs();
  const health = healths.note(scope, endpointId, attempted.worked, now);
  const reason = reasonToDisable(healths, endpointId, attempted, now);
  const to = reason === null ? moved : canceledInstead(moved, now);
  const { ok } = await queue.whileSealed(item, () => {
    const ops = [...moveOps(taken, to, recordAttemptOp(scope, delivery, attempted.record), now), ...health];
    return reason === null
      ? services.store.commit(ops, { commitDelayMs: commitBatch.isExpected() ? backgroundCommitDelayMs : 0 })
      : parts.disable(scope, endpointId, reason, ops);
  });
  if (ok) services.outcomeCounter.count('deliveries', to.status);
  if (ok) return to.next_attempt_at === null ? undefined : queue.wake();
  queue.drop(item);
  await recordLate(parts, scope, delivery, attempted);
}

/** Returns the move without a retry, for an endpoint that is disabled in the same batch. */
function canceledInstead(to: DeliveryMove, nowMs: number): DeliveryMove {
  if (to.next_attempt_at === null) return to;
  return { ...to, status: 'canceled', next_attempt_at: null, finished_at: nowMs };
}

/** Returns the ops that move a delivery, with or without rows. The first op guards the batch. */
function moveOps(
  { item, queue, delivery }: TakenDelivery,
  to: DeliveryMove,
  attempt: Op,
  nowMs: number,
): Op[] {
  const { scope } = item;
  if (to.next_attempt_at !== null)
    return [...queue.putOff(item, to.next_attempt_at), moveDeliveryOp(scope, delivery.id, to), attempt];
  if (item.epoch === null) return [queue.ending(item, endedDeliveryOp(scope, delivery, to)), attempt];
  return [
    queue.finish(item),
    moveDeliveryOp(scope, delivery.id, to),
    attempt,
    ...freeNext(scope, delivery, queue, nowMs),
  ];
}

/**
 * Returns the ops that make the next delivery with the same order key due; none for an unordered delivery.
 */
function freeNext(scope: Scope, delivery: DeliveryRow, queue: WorkQueue, nowMs: number): Op[] {
  return isOrdered(delivery) ? [freeNextOp(queue, scope, delivery, nowMs)] : [];
}

/**
 * Handles a delivery that was ended elsewhere during the attempt. The attempt is still recorded if the
 * delivery was canceled.
 */
async function recordLate(
  { services: { store, log } }: Delivering,
  scope: Scope,
  delivery: DeliveryRow,
  { record, worked }: Attempted,
): Promise<void> {
  const recorded = await store.commit(noteLateAttemptOps(scope, delivery, record, worked));
  if (!recorded.ok) log('warn', 'delivery already ended by another process', { deliveryId: delivery.id });
}
