// Decides the next state of a delivery after an attempt, and if its endpoint must be disabled. Spec:
// docs/spec/webhooks.md › States.
import type { Clock } from '../../lib/clock.ts';
import type { Scope } from '../../store/store.ts';
import type { Attempted } from '../attempt.ts';
import type { DeliveryMove, DeliveryRow } from '../deliveries/rows.ts';
import { nextAttempt, parseRetryAfterMs } from '../schedule.ts';
import type { Subscriptions } from '../subscriptions.ts';
import type { Healths } from './health.ts';

const gone = 410;

export async function moveAfter(
  { clock, random, subscriptions }: { clock: Clock; random: () => number; subscriptions: Subscriptions },
  scope: Scope,
  delivery: DeliveryRow,
  { record, response, worked }: Attempted,
): Promise<DeliveryMove> {
  const now = clock.nowMs();
  const firstAttemptAt = delivery.first_attempt_at ?? record.at;
  const ended = { attempts: record.number, firstAttemptAt, nextAttemptAt: null, finishedAt: now };
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
    : { ...ended, status: 'retrying', nextAttemptAt: next.atMs, finishedAt: null };
}

/** Call after the endpoint's health has counted the attempt. @returns null if the endpoint stays enabled */
export function reasonToDisable(
  healths: Healths,
  endpointId: string,
  { response, worked }: Attempted,
  nowMs: number,
): string | null {
  if (worked) return null;
  if (response?.status === gone) return 'The receiver answered 410 Gone.';
  return healths.isHopeless(endpointId, nowMs) ? 'All deliveries have failed for 120 hours.' : null;
}
